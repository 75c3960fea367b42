import { parseArgs } from 'node:util'

/** A measurement that is no contest: `npm run bench -- NAME` runs it. */
export interface Program {
  /** What it measures, in a line. */
  readonly title: string
  /** Its options, with their defaults. */
  readonly options: Options
  /** Resolves to the exit code. Rejects if an option is wrong. */
  run(args: readonly string[]): Promise<number>
}

/** A number, whether to judge the figures, or texts that can be given more than once. */
type Value = number | boolean | readonly string[]
type Options = Readonly<Record<string, Value>>

interface ProgramOptions<Asked extends Values<Asked>> {
  readonly title: string
  readonly options: Asked
  /** Returns whether the figures are within their bounds, if it judges them. */
  run(asked: Asked): Promise<boolean | void>
}

/** Interfaces have no index signature. */
type Values<Asked> = { readonly [Name in keyof Asked]: Value }

export function createProgram<Asked extends Values<Asked>>(
  program: ProgramOptions<Asked>,
): Program {
  const { title, options } = program
  return {
    title,
    options: { ...options },
    run: async (args) => ((await program.run(read(args, options))) === false ? 1 : 0),
  }
}

function read<Asked extends Values<Asked>>(args: readonly string[], standard: Asked): Asked {
  const types = Object.entries<Value>(standard).map(([name, value]) => [
    name,
    {
      type: typeof value === 'boolean' ? 'boolean' : 'string',
      multiple: typeof value === 'object',
    },
  ])
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(types) as Record<string, { type: 'string' | 'boolean' }>,
  })
  const given = Object.entries(values).map(([name, value]) => [
    name,
    typeof standard[name as keyof Asked] === 'number' ? Number(value) : value,
  ])
  return { ...standard, ...(Object.fromEntries(given) as Partial<Asked>) }
}

/** The programs and their options, as lines of a usage. */
export function describePrograms(programs: Readonly<Record<string, Program>>): string {
  const lines: string[] = []
  for (const [name, { title, options }] of Object.entries(programs)) {
    lines.push(`  ${name.padEnd(18)} ${title}`)
    for (const [option, standard] of Object.entries(options)) {
      lines.push(`    --${option.padEnd(14)} ${describe(standard)}`)
    }
  }
  return lines.join('\n')
}

function describe(standard: Value): string {
  if (typeof standard === 'number') return `a number, by default ${standard}`
  return typeof standard === 'boolean' ? 'off by default' : 'can be repeated'
}
