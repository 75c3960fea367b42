import { parseArgs } from 'node:util'
import type { Scenario } from './scenario.ts'
import { QUICK } from './scenarios/all.ts'
import { STACK_NAMES, type StackName } from './setup/stack.ts'

export interface Asked {
  readonly scenarios: readonly Scenario[]
  readonly stacks: readonly StackName[]
  readonly rounds: number
  /** How long each load lasts. */
  readonly seconds: number
  /** The path of the results, less `.json` and `.md`. */
  readonly results: string
  readonly profile: string | undefined
}

/** What the arguments ask for of `known`, or what is wrong with them. */
export function readCommandLine(
  args: readonly string[],
  known: readonly Scenario[],
): Asked | { readonly wrong: string } {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const { quick, results, profile } = values
  const defaults = quick ? QUICK_DEFAULTS : FULL_DEFAULTS
  const names = values.scenario ?? (quick ? QUICK : known.map(({ name }) => name))
  const stacks = values.stack ?? defaults.stacks
  const rounds = Number(values.rounds ?? defaults.rounds)
  const seconds = Number(values.seconds ?? defaults.seconds)
  const unknown = [
    ...names.filter((name) => !known.some((scenario) => scenario.name === name)),
    ...stacks.filter((name) => !isStackName(name)),
  ]
  if (unknown.length > 0) return { wrong: `There is no ${unknown.join(', no ')}.` }
  if (!isCount(rounds) || !isCount(seconds)) return { wrong: 'Rounds and seconds are from 1.' }
  const scenarios = known.filter(({ name }) => names.includes(name))
  return { scenarios, stacks: stacks.filter(isStackName), rounds, seconds, results, profile }
}

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  scenario: { type: 'string', multiple: true },
  stack: { type: 'string', multiple: true },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  results: { type: 'string', default: 'data/bench' },
  profile: { type: 'string' },
} as const

const FULL_DEFAULTS = { stacks: STACK_NAMES, rounds: 5, seconds: 5 }
const QUICK_DEFAULTS = { stacks: ['sqlite-minio', 'postgres-minio'], rounds: 3, seconds: 2 }

function isStackName(name: string): name is StackName {
  return STACK_NAMES.some((known) => known === name)
}

function isCount(number: number): boolean {
  return Number.isInteger(number) && number > 0
}

/** Says which scenarios and stacks there are. */
export function usage(known: readonly Scenario[]): string {
  const lines = known.map(({ name, title }) => `    ${name.padEnd(18)} ${title}`)
  return `usage: npm run bench -- [options]
  --quick            the 4 KiB figures of the stacks with MinIO, in under two minutes
  --scenario NAME    only this one; may be repeated:
${lines.join('\n')}
  --stack NAME       only this one; may be repeated: ${STACK_NAMES.join(', ')}
  --rounds N         how often each side is measured, in turns; ${FULL_DEFAULTS.rounds} when left out, ${QUICK_DEFAULTS.rounds} with --quick
  --seconds S        how long a load lasts; ${FULL_DEFAULTS.seconds} when left out, ${QUICK_DEFAULTS.seconds} with --quick
  --results PATH     where the results go, as PATH.json and PATH.md; data/bench when left out
  --profile FOLDER   writes a CPU profile of each service there`
}
