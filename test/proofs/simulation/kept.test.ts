import { expect, it } from 'vitest'
import { planOfScenario, SCENARIOS } from './plan/scenarios.ts'
import { simulate } from './simulate.ts'
import { openStage } from './world/stage.ts'

/** What the simulation has found, and may never find again: the shortest plan of each, with the fault that it takes. */
const FOUND = [
  {
    bug: 'a first try of a write, landing late, left the object of a purged user for ever',
    scenario: 'a user who is deleted in the middle',
    fault: { call: 1, fault: 3, name: 's3: late' },
  },
]

it.each(FOUND)('$bug', async ({ scenario, fault }) => {
  await using stage = await openStage()
  const plan = planOfScenario(SCENARIOS[scenario] ?? [], { plannedFaults: [fault] })
  const { violation, injected } = await simulate(plan, { stage })
  expect(injected.get(fault.name)).toBe(1)
  expect(violation).toBeUndefined()
})
