import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../src/core/errors.ts'
import { findProgram } from '../test/support/servers/local-server.ts'
import { runMain } from '../test/support/service/run-main.ts'
import { type Asked, readCommandLine, usage } from './command-line.ts'
import { hold, holdAnew } from './measure/contest.ts'
import { describeMachine } from './measure/machine.ts'
import { MARKS } from './measure/marks.ts'
import { describePrograms } from './program.ts'
import { createProgress, type Progress } from './progress.ts'
import { type Report, renderReport } from './measure/report.ts'
import type { Result } from './measure/result.ts'
import { judge } from './measure/verdicts.ts'
import { PROGRAMS } from './programs/all.ts'
import { runProgram } from './setup/run-program.ts'
import type { Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios/all.ts'
import { createServers, type Servers } from './setup/servers.ts'
import type { StackName } from './setup/stack.ts'

const BUILD_TIMEOUT_MS = 120_000

const NEEDS = 'It needs Linux and the programs that bench/NOTES.md names.'

const USAGE = `${usage(SCENARIOS)}

usage: npm run bench -- NAME [options]
${describePrograms(PROGRAMS)}`

await runMain(USAGE, main)

async function main(args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined
  if (program !== undefined) return program.run(rest)
  const asked = readCommandLine(args, SCENARIOS)
  if ('wrong' in asked) {
    console.error(`${asked.wrong}\n${USAGE}`)
    return 2
  }
  const lacking = await findLacking()
  if (lacking.length > 0) {
    console.error(`The benchmark cannot run here: ${lacking.join('; ')}. ${NEEDS}`)
    return 2
  }
  const results: Result[] = []
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
  const origin = { machine: describeMachine(), command, started_at: new Date().toISOString() }
  const keep = async (result: Result): Promise<void> => {
    results.push(result)
    await save({ ...origin, results, verdicts: judge(MARKS, results) }, asked)
  }
  await run(asked, { keep, end: endOfSignal() })
  console.log(renderReport({ ...origin, results, verdicts: judge(MARKS, results) }))
  return results.every(({ outcome }) => outcome !== undefined) ? 0 : 1
}

async function findLacking(): Promise<readonly string[]> {
  const found = await Promise.allSettled(['wrk', 'curl'].map(findProgram))
  const reasons = found.flatMap((each) =>
    each.status === 'rejected' ? [messageOf(each.reason)] : [],
  )
  return process.platform === 'linux' ? reasons : [`this is ${process.platform}`, ...reasons]
}

/** Aborted by SIGINT and SIGTERM; the programs that the run has started end with it. */
function endOfSignal(): AbortSignal {
  const end = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Not `once`: a terminal signals both npm and this process.
    process.on(signal, () => end.abort(new Error(`ended by ${signal}`)))
  }
  return end.signal
}

interface Run {
  /** Called with each result as soon as it is complete. */
  readonly keep: (result: Result) => Promise<void>
  readonly end: AbortSignal
}

async function run(asked: Asked, { keep, end }: Run): Promise<void> {
  const progress = createProgress(process.stderr)
  progress.say('building')
  const compiler = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']
  await runProgram(process.execPath, compiler, BUILD_TIMEOUT_MS)
  await using opened = new AsyncDisposableStack()
  const servers = createServers(opened)
  for (const scenario of asked.scenarios) {
    for (const stack of scenario.stacks.filter((name) => asked.stacks.includes(name))) {
      if (end.aborted) break
      await keep(await runScenario({ scenario, stack, servers, asked, progress, end }))
    }
  }
  progress.end()
}

interface ScenarioRun {
  readonly scenario: Scenario
  readonly stack: StackName
  readonly servers: Servers
  readonly asked: Asked
  readonly progress: Progress
  readonly end: AbortSignal
}

/** A failure becomes part of the result, and the other scenarios still run. */
async function runScenario(run: ScenarioRun): Promise<Result> {
  const { scenario, stack, servers, asked, progress, end } = run
  const { name, title, isCold = false, isAnew = false } = scenario
  const { maxRounds = Number.POSITIVE_INFINITY } = scenario
  const { seconds, warmUpSeconds, profile, scale } = asked
  const count = Math.min(asked.rounds, maxRounds)
  progress.say(`${name} on ${stack}: preparing`)
  try {
    const open = (opened: AsyncDisposableStack) =>
      scenario.open({ stack, servers, seconds, profile, scale, opened })
    const onRound = (round: number): void => {
      end.throwIfAborted()
      progress.say(`${name} on ${stack}: ${round === 0 ? 'warming up' : `round ${round}/${count}`}`)
    }
    const warmUpMs = isCold ? undefined : warmUpSeconds * 1000
    const rounds = { count, warmUpMs, onRound }
    await using opened = new AsyncDisposableStack()
    const outcome = isAnew ? await holdAnew(open, rounds) : await hold(await open(opened), rounds)
    return { scenario: name, title, stack, outcome }
  } catch (error) {
    progress.note(`${name} on ${stack} failed: ${messageOf(error)}`)
    return { scenario: name, title, stack, reason: messageOf(error) }
  }
}

/** Saves the results so far, since a run takes long. */
async function save(report: Report, { results }: Asked): Promise<void> {
  await mkdir(dirname(results), { recursive: true })
  await writeFile(`${results}.json`, `${JSON.stringify(report, undefined, 2)}\n`)
  await writeFile(`${results}.md`, `${renderReport(report)}\n`)
}
