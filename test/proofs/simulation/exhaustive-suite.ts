import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsOf } from './world/faults.ts'
import { INTERLEAVINGS, RESUMABLE_SCENARIOS } from './plan/resumable-scenarios.ts'
import type { Scenarios } from './plan/plan.ts'
import { FILE_SCENARIOS, planOfScenario } from './plan/scenarios.ts'
import { type Run, simulate } from './simulate.ts'
import { openStage, type Stage } from './world/stage.ts'

export interface ExhaustiveSuite {
  /** Every how many of the cases are played. */
  readonly oneIn: number
  /** The same for those of resumable uploads. */
  readonly oneResumableIn: number
  /** The first of the cases that is played; parts with each number below `oneIn` play every case once. */
  readonly first?: number
}

/** Every scenario with each fault at each call, and with a crash after each event. */
export function exhaustiveSuite({ oneIn, oneResumableIn, first = 0 }: ExhaustiveSuite): void {
  let stage: Stage

  beforeAll(async () => {
    stage = await openStage()
  })

  afterAll(() => stage[Symbol.asyncDispose]())

  everyFaultOf(FILE_SCENARIOS, oneIn)
  everyFaultOf(RESUMABLE_SCENARIOS, oneResumableIn)

  it('two appends, a HEAD and a sweep hold every invariant, whichever begins when', async () => {
    for (const [at, steps] of sample([...INTERLEAVINGS.entries()], oneResumableIn)) {
      const { violation } = await simulate(planOfScenario(steps), { stage })
      expect(violation, `interleaving ${at}`).toBeUndefined()
    }
  })

  function sample<T>(all: readonly T[], oneIn: number): readonly T[] {
    return all.filter((_, at) => at % oneIn === first)
  }

  function everyFaultOf(scenarios: Scenarios, oneIn: number): void {
    describe.each(Object.entries(scenarios))('%s', (_, steps) => {
      let undisturbed: Run

      beforeAll(async () => {
        undisturbed = await simulate(planOfScenario(steps), { stage })
      })

      it('holds every invariant when nothing fails', () => {
        expect(undisturbed.violation).toBeUndefined()
      })

      it(`holds every invariant whichever call fails, in whichever way, one in ${oneIn}`, async () => {
        const faults = undisturbed.calls.flatMap((called, call) =>
          faultsOf(called).map((name, fault) => ({ call, fault, name, called: called.name })),
        )
        expect(faults.length).toBeGreaterThan(0)
        for (const { call, fault, name, called } of sample(faults, oneIn)) {
          const plan = planOfScenario(steps, { plannedFaults: [{ call, fault }] })
          const { violation } = await simulate(plan, { stage })
          expect(violation, `${name} at call ${call} (${called})`).toBeUndefined()
        }
      })

      it(`holds every invariant when an instance dies after whichever event, one in ${oneIn}`, async () => {
        const length = Math.max(0, undisturbed.eventsAtWork - 1)
        const events = Array.from({ length }, (_, at) => at + 1)
        for (const event of sample(events, oneIn)) {
          const plan = planOfScenario(steps, { crashAfter: { event, process: 0 } })
          const { violation } = await simulate(plan, { stage })
          expect(violation, `a crash after event ${event}`).toBeUndefined()
        }
      })
    })
  }
}
