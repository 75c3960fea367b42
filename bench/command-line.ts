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
  /** Path of the results, without `.json` and `.md`. */
  readonly results: string
  readonly profile: string | undefined
}

/** Returns what to run of `known`, or what is wrong with the arguments. */
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
  if (unknown.length > 0) return { wrong: `Unknown scenario or stack: ${unknown.join(', ')}.` }
  if (!isCount(rounds) || !isCount(seconds)) {
    return { wrong: '--rounds and --seconds must be whole numbers of at least 1.' }
  }
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

function defaultsOf(option: 'rounds' | 'seconds'): string {
  return `default ${FULL_DEFAULTS[option]}; ${QUICK_DEFAULTS[option]} with --quick`
}

/** Lists all scenarios and stacks. */
export function usage(known: readonly Scenario[]): string {
  const lines = known.map(({ name, title }) => `    ${name.padEnd(19)} ${title}`)
  return `usage: npm run bench -- [options]
  --quick            measure only 4 KiB uploads and downloads on the stacks with MinIO, in under two minutes
  --scenario NAME    run only this scenario; can be repeated:
${lines.join('\n')}
  --stack NAME       run only on this stack; can be repeated: ${STACK_NAMES.join(', ')}
  --rounds N         measurements of each side, taken alternately (${defaultsOf('rounds')})
  --seconds S        duration of each load (${defaultsOf('seconds')})
  --results PATH     write the results to PATH.json and PATH.md (default data/bench)
  --profile FOLDER   write a CPU profile of each service to this folder`
}
