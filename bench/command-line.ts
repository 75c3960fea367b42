import { parseArgs } from 'node:util'
import { PEERS } from './peers/all.ts'
import type { Scenario } from './scenario.ts'
import { QUICK } from './scenarios/all.ts'
import { peerScenarios } from './scenarios/peers.ts'
import { STACK_NAMES, type StackName } from './setup/stack.ts'

export interface Asked {
  readonly scenarios: readonly Scenario[]
  readonly stacks: readonly StackName[]
  readonly rounds: number
  /** How long each load lasts. */
  readonly seconds: number
  /** How long the service works before its rounds. */
  readonly warmUpSeconds: number
  /** Path of the results, without `.json` and `.md`. */
  readonly results: string
  readonly profile: string | undefined
  /** What files of 64 MiB and more and series of 10,000 appends are multiplied by. */
  readonly scale: number
}

/** Returns what to run of `known`, or what is wrong with the arguments. */
export function readCommandLine(
  args: readonly string[],
  known: readonly Scenario[],
): Asked | { readonly wrong: string } {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const { quick, results, profile } = values
  const peers = readPeers(values.peer ?? [])
  if (peers === undefined)
    return { wrong: `--peer must be NAME=PATH, with NAME one of ${PEER_NAMES}.` }
  const defaults = quick ? QUICK_DEFAULTS : FULL_DEFAULTS
  const usual = quick ? QUICK : known.map(({ name }) => name)
  const names = values.scenario ?? (peers.length > 0 ? [] : usual)
  const stacks = values.stack ?? (peers.length > 0 ? STACK_NAMES : defaults.stacks)
  const rounds = Number(values.rounds ?? defaults.rounds)
  const seconds = Number(values.seconds ?? defaults.seconds)
  const warmUpSeconds = Number(values['warm-up'] ?? defaults.warmUpSeconds)
  const scale = Number(values.scale)
  const unknown = [
    ...names.filter((name) => !known.some((scenario) => scenario.name === name)),
    ...stacks.filter((name) => !isStackName(name)),
  ]
  if (unknown.length > 0) return { wrong: `Unknown scenario or stack: ${unknown.join(', ')}.` }
  if (![rounds, seconds, warmUpSeconds].every(isCount)) {
    return { wrong: '--rounds, --seconds and --warm-up must be whole numbers of at least 1.' }
  }
  if (!(scale > 0 && scale <= 1)) return { wrong: '--scale must be above 0, and at most 1.' }
  const scenarios = [...known.filter(({ name }) => names.includes(name)), ...peers]
  const chosen = { scenarios, stacks: stacks.filter(isStackName) }
  if (!scenarios.some((scenario) => scenario.stacks.some((stack) => stacks.includes(stack)))) {
    return { wrong: sayNothingRuns(chosen) }
  }
  return { ...chosen, rounds, seconds, warmUpSeconds, results, profile, scale }
}

function sayNothingRuns({ scenarios, stacks }: Pick<Asked, 'scenarios' | 'stacks'>): string {
  const verb = scenarios.length === 1 ? 'does' : 'do'
  const names = scenarios.map(({ name }) => name).join(', ')
  return `${names} ${verb} not run on ${stacks.join(', ')}.`
}

/** The scenarios of the peers, or `undefined` if an argument names none. */
function readPeers(args: readonly string[]): readonly Scenario[] | undefined {
  const scenarios = args.map((each) => {
    const [name = '', ...path] = each.split('=')
    const peer = Object.hasOwn(PEERS, name) ? PEERS[name] : undefined
    const program = path.join('=')
    return peer === undefined || program === '' ? [] : peerScenarios({ name, peer, program })
  })
  return scenarios.every(({ length }) => length > 0) ? scenarios.flat() : undefined
}

const PEER_NAMES = Object.keys(PEERS).join(', ')

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  scenario: { type: 'string', multiple: true },
  stack: { type: 'string', multiple: true },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  'warm-up': { type: 'string' },
  scale: { type: 'string', default: '1' },
  results: { type: 'string', default: 'data/bench' },
  peer: { type: 'string', multiple: true },
  profile: { type: 'string' },
} as const

const FULL_DEFAULTS = { stacks: STACK_NAMES, rounds: 5, seconds: 5, warmUpSeconds: 20 }
const QUICK_DEFAULTS = {
  stacks: ['sqlite-minio', 'postgres-minio'],
  rounds: 3,
  seconds: 2,
  warmUpSeconds: 2,
}

function isStackName(name: string): name is StackName {
  return STACK_NAMES.some((known) => known === name)
}

function isCount(number: number): boolean {
  return Number.isInteger(number) && number > 0
}

function defaultsOf(option: 'rounds' | 'seconds' | 'warmUpSeconds'): string {
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
  --warm-up S        how long the service works before its rounds (${defaultsOf('warmUpSeconds')})
  --scale N          multiply files of 64 MiB and more, and series of 10,000 appends, to try a scenario out
                     (default 1)
  --peer NAME=PATH   compare 4 KiB files on local disks with this server, started from the program at PATH, instead of
                     running the other scenarios; can be repeated: ${PEER_NAMES}
  --results PATH     write the results to PATH.json and PATH.md (default data/bench)
  --profile FOLDER   write a CPU profile of each service to this folder`
}
