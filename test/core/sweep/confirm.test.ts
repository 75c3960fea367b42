import { expect, it } from 'vitest'
import { outage } from '../../support/faults/faults.ts'
import { openTestCore, sweepOnce } from '../../support/service/test-core.ts'
import { countObjects, litter } from './fixture.ts'

it('a sweep removes no object of garbage that is not confirmed', async () => {
  await using core = await openTestCore()
  await litter(core, 3)
  const ledger = { ...core.ledger, confirm: () => Promise.reject(outage()) }
  await expect(sweepOnce({ ...core, ledger })).rejects.toMatchObject({ code: 'unavailable' })
  expect(await countObjects(core)).toBe(3)
  await sweepOnce(core)
  expect(await countObjects(core)).toBe(0)
})
