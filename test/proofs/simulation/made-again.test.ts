import { expect, it } from 'vitest'
import type { Caller } from '../../../src/core/users/caller.ts'
import { planOfScenario, SCENARIOS } from './plan/scenarios.ts'
import { simulate } from './simulate.ts'
import { openStage } from './world/stage.ts'
import type { Variant } from './world/world.ts'

const SCENARIO = 'a user who is made again while an upload of the one before is held up'

/** A ledger that takes the next user of an id for the one before. Random plans meet the moment for it too seldom. */
const CONFUSED: Variant = {
  sharedLedger: ({ ledger, users }) => {
    const asNow = async <T extends Caller>(call: T): Promise<T> => {
      const user = await users.findUser(call.userId)
      return { ...call, userCreatedAt: user?.createdAt ?? call.userCreatedAt }
    }
    return { begin: async (upload) => ledger.begin(await asNow(upload)) }
  },
}

it('finds a service that takes the next user of an id for the one before', async () => {
  await using stage = await openStage()
  const plan = planOfScenario(SCENARIOS[SCENARIO] ?? [])
  expect((await simulate(plan, { stage })).violation).toBeUndefined()
  const { violation } = await simulate(plan, { stage, variant: CONFUSED })
  expect(String(violation)).toContain('what the next user of the id has')
})
