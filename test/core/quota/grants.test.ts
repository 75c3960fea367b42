import { describe, expect, it } from 'vitest'
import { MAX_BYTES } from '../../../src/core/byte-size.ts'
import { createGrants, type Grants, type PutGrant } from '../../../src/core/quota/grants.ts'
import { parseUserId, type UserId } from '../../../src/core/users/user-id.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'
import { createTestUser } from '../../support/service/test-repository.ts'
import { readUsage } from '../../support/read-usage.ts'

const alice = parseUserId('alice')

/** The user `alice` with a base of 1000 bytes, 100 for a device, 200 for one of model `camera`. */
async function openGrants(
  core: TestCore,
  deviceModels: ReadonlyMap<string, number> = new Map([['camera', 200]]),
): Promise<Grants> {
  await createTestUser(core)
  return createGrants({ users: core.users, deviceCapacity: 100, deviceModels })
}

async function capacity({ ledger }: TestCore, userId: UserId = alice): Promise<number | undefined> {
  return (await readUsage(ledger, userId))?.capacity
}

function device(deviceId: string, terms: { model?: string; bytes?: number } = {}) {
  return { userId: alice, deviceId, model: terms.model, bytes: terms.bytes }
}

function grant(terms: Partial<PutGrant> = {}): PutGrant {
  const names = { userId: alice, source: 'promotion', reference: 'spring' }
  return { ...names, bytes: 50, startsAt: undefined, endsAt: undefined, ...terms }
}

describe('a device', () => {
  it.each(['camera', 'constructor'])(
    'a device of any model, such as %s, adds the default without models',
    async (model) => {
      await using core = await openTestCore()
      const grants = await openGrants(core, new Map())
      await grants.putDevice(device('a', { model }))
      expect(await capacity(core)).toBe(1100)
    },
  )

  it('a device of a once known model keeps what it adds, and can be removed', async () => {
    await using core = await openTestCore()
    const before = await openGrants(core)
    await before.putDevice(device('a', { model: 'camera' }))
    const deviceModels = new Map([['camera-2', 300]])
    const grants = createGrants({ users: core.users, deviceCapacity: 100, deviceModels })
    await expect(grants.putDevice(device('a', { model: 'camera' }))).rejects.toMatchObject({
      message: 'model must be in DEVICE_MODELS, which has: camera-2.',
    })
    expect(await grants.listDevices(alice)).toMatchObject([{ model: 'camera', bytes: 200 }])
    expect(await capacity(core)).toBe(1200)
    await grants.removeDevice({ userId: alice, deviceId: 'a' })
    expect(await capacity(core)).toBe(1000)
  })

  it.each([
    ['device_id', device('')],
    ['device_id', device('a b')],
    ['device_id', device('a'.repeat(129))],
    ['model', device('a', { model: '' })],
    ['model', device('a', { model: 'ä' })],
    ['model', device('a', { model: 'Camera' })],
    ['model', device('a', { model: 'constructor' })],
    ['model', device('a', { model: 'toaster', bytes: 7 })],
    ['model', device('a', { model: 'm'.repeat(129) })],
    ['bytes', device('a', { bytes: -1 })],
    ['bytes', device('a', { bytes: 0.5 })],
    ['bytes', device('a', { bytes: MAX_BYTES + 1 })],
    ['bytes', device('a', { bytes: Number.NaN })],
  ])('is refused for its %s: %j', async (parameter, device) => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await expect(grants.putDevice(device)).rejects.toMatchObject({
      code: 'invalid_parameter',
      facts: { parameter },
    })
    expect(await capacity(core)).toBe(1000)
  })
})

describe('any other grant', () => {
  it.each([
    ['source', grant({ source: 'base' })],
    ['source', grant({ source: 'device' })],
    ['source', grant({ source: '' })],
    ['source', grant({ source: '1st' })],
    ['source', grant({ source: 'Promotion' })],
    ['source', grant({ source: 'a'.repeat(33) })],
    ['reference', grant({ reference: '' })],
    ['reference', grant({ reference: 'a/b' })],
    ['reference', grant({ reference: 'a'.repeat(129) })],
    ['bytes', grant({ bytes: -1 })],
    ['bytes', grant({ bytes: 1.5 })],
    ['bytes', grant({ bytes: Infinity })],
    ['ends_at', grant({ startsAt: 5, endsAt: 5 })],
    ['ends_at', grant({ startsAt: 5, endsAt: 4 })],
  ])('is refused for its %s: %j', async (parameter, grant) => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await expect(grants.putGrant(grant)).rejects.toMatchObject({
      code: 'invalid_parameter',
      facts: { parameter },
    })
    expect(await grants.listGrants(alice)).toEqual([])
  })

  it('does not revoke a device under the name of its source', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await grants.putDevice(device('phone'))
    const revoking = grants.revokeGrant({ userId: alice, source: 'device', reference: 'phone' })
    await expect(revoking).rejects.toMatchObject({ facts: { parameter: 'source' } })
    expect(await capacity(core)).toBe(1100)
  })
})
