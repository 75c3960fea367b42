import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsOf } from './faults.ts'
import { planOfScenario, SCENARIOS } from './scenarios.ts'
import { simulate } from './simulate.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

describe.each(Object.entries(SCENARIOS))('%s', (_, steps) => {
  it('holds every invariant when nothing fails', async () => {
    expect((await simulate(planOfScenario(steps), { stage })).violation).toBeUndefined()
  })

  it('holds every invariant whichever call fails, in whichever way', async () => {
    const { calls } = await simulate(planOfScenario(steps), { stage })
    expect(calls.length).toBeGreaterThan(0)
    for (const [call, called] of calls.entries()) {
      for (const [fault, name] of faultsOf(called).entries()) {
        const plan = planOfScenario(steps, { plannedFaults: [{ call, fault }] })
        const { violation } = await simulate(plan, { stage })
        expect(violation, `${name} at call ${call} (${called.name})`).toBeUndefined()
      }
    }
  }, 120_000)

  it('holds every invariant when an instance dies after whichever event', async () => {
    const { eventsAtWork } = await simulate(planOfScenario(steps), { stage })
    for (let event = 1; event < eventsAtWork; event++) {
      const plan = planOfScenario(steps, { crashAfter: { event, process: 0 } })
      const { violation } = await simulate(plan, { stage })
      expect(violation, `a crash after event ${event}`).toBeUndefined()
    }
  }, 120_000)
})
