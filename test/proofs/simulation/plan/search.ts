import * as fc from 'fast-check'
import { type Plan, plans } from './plan.ts'
import { RESUMABLE_SCENARIOS } from './resumable-scenarios.ts'
import { planOfScenario } from './scenarios.ts'
import { type Run, simulate, type SimulateOptions } from '../simulate.ts'

export interface Search extends SimulateOptions {
  /** The seed of the first run; each further run takes the next number. */
  readonly firstSeed: number
  /** Whether to continue after this number of runs. */
  readonly goesOn: (runs: number) => boolean
  readonly onRun?: (run: Run) => void
}

export interface Finding {
  readonly seed: number
  readonly run: Run
}

/** Runs plans until one breaks an invariant; returns that one and the number of runs. */
export async function search(
  options: Search,
): Promise<{ readonly runs: number; readonly found: Finding | undefined }> {
  const { firstSeed, goesOn, onRun } = options
  let runs = 0
  while (goesOn(runs)) {
    const seed = firstSeed + runs
    const run = await simulate(planOf(seed), options)
    runs += 1
    onRun?.(run)
    if (run.violation !== undefined) return { runs, found: { seed, run } }
  }
  return { runs, found: undefined }
}

/** Plays the scenarios of resumable uploads with a crash after each event until one breaks an invariant. */
export async function searchCrashes(options: SimulateOptions): Promise<Run | undefined> {
  for (const steps of Object.values(RESUMABLE_SCENARIOS)) {
    const { eventsAtWork } = await simulate(planOfScenario(steps), options)
    for (let event = 1; event < eventsAtWork; event += 1) {
      const plan = planOfScenario(steps, { crashAfter: { event, process: 0 } })
      const run = await simulate(plan, options)
      if (run.violation !== undefined) return run
    }
  }
  return undefined
}

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const [plan] = fc.sample(plans, { seed, numRuns: 1, unbiased: true })
  if (plan === undefined) throw new TypeError('fast-check made no plan')
  return plan
}

/** Returns the smallest plan found, derived from that of `seed`, that still breaks an invariant, and its run. */
export async function shrink(
  seed: number,
  options: SimulateOptions,
): Promise<{ readonly plan: Plan; readonly run: Run }> {
  const property = fc.asyncProperty(plans, async (plan) => {
    const { violation } = await simulate(plan, options)
    return violation === undefined
  })
  const { counterexample } = await fc.check(property, { seed, numRuns: 1, unbiased: true })
  const plan = counterexample?.[0] ?? planOf(seed)
  return { plan, run: await simulate(plan, options) }
}

/** Describes a failed run: its seed, the command to replay it, and its last events. */
export function describeFinding({ seed, run }: Finding): string {
  return [
    `seed ${seed}: ${String(run.violation)}`,
    `replay with: npm run simulate -- --seed ${seed}`,
    ...run.log.slice(-LAST_EVENTS),
  ].join('\n')
}

const LAST_EVENTS = 40
