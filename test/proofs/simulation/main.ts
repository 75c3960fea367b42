import { parseArgs } from 'node:util'
import { describeFinding, type Finding, planOf, search, shrink } from './plan/search.ts'
import { type Run, simulate } from './simulate.ts'
import { openStage, type Stage } from './world/stage.ts'
import { runMain } from '../../support/service/run-main.ts'

const USAGE = `usage: npm run simulate -- [--minutes N] [--seed S]
  --minutes N  run random plans for N minutes (default 1), starting with seed S or a random seed
  --seed S     without --minutes: replay the plan of this seed and print every event`

const PROGRESS_MS = 10_000

await runMain(USAGE, main)

async function main(args: readonly string[]): Promise<number> {
  const options = { minutes: { type: 'string' }, seed: { type: 'string' } } as const
  const { values } = parseArgs({ args: [...args], options })
  const minutes = Number(values.minutes ?? 1)
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30))
  if (!(minutes > 0) || !Number.isInteger(seed)) {
    console.error(USAGE)
    return 2
  }
  await using stage = await openStage()
  if (values.seed !== undefined && values.minutes === undefined) return await replay(stage, seed)
  return await explore(stage, { firstSeed: seed, minutes })
}

async function replay(stage: Stage, seed: number): Promise<number> {
  const run = await simulate(planOf(seed), { stage })
  for (const line of run.log) console.log(line)
  if (run.violation === undefined) return 0
  await explain(stage, { seed, run })
  return 1
}

async function explore(
  stage: Stage,
  { firstSeed, minutes }: { readonly firstSeed: number; readonly minutes: number },
): Promise<number> {
  const progress = startProgress(firstSeed)
  let endsAt = Date.now() + minutes * 60_000
  // Ctrl-C ends the search, but the report is still printed.
  process.once('SIGINT', () => void (endsAt = 0))
  const { found } = await search({
    stage,
    firstSeed,
    goesOn: () => Date.now() < endsAt,
    onRun: (run) => progress.add(run),
  })
  progress.print()
  progress.printFaults()
  if (found === undefined) return 0
  await explain(stage, found)
  return 1
}

async function explain(stage: Stage, finding: Finding): Promise<void> {
  console.error(describeFinding(finding))
  console.error('shrinking ...')
  const { plan, run } = await shrink(finding.seed, { stage })
  console.error(`smallest failing plan found: ${String(run.violation)}`)
  console.error(JSON.stringify(plan, undefined, 1))
}

function startProgress(firstSeed: number) {
  const startedAt = Date.now()
  const injected = new Map<string, number>()
  let [runs, events, printedAt] = [0, 0, startedAt]

  function print(): void {
    printedAt = Date.now()
    const seconds = (printedAt - startedAt) / 1000
    const rates = `${(runs / seconds).toFixed(1)} runs/s, ${Math.round(events / seconds)} events/s`
    const seeds = `seeds ${firstSeed} to ${firstSeed + runs - 1}`
    console.log(`${Math.round(seconds)} s: ${runs} runs (${seeds}), ${events} events; ${rates}`)
  }

  return {
    add(run: Run): void {
      runs += 1
      events += run.events
      for (const [fault, count] of run.injected) {
        injected.set(fault, (injected.get(fault) ?? 0) + count)
      }
      if (Date.now() - printedAt >= PROGRESS_MS) print()
    },
    print,
    printFaults(): void {
      for (const [fault, count] of [...injected].sort(byName)) console.log(`${fault}: ${count}`)
    },
  }
}

function byName([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1
}
