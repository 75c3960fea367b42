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
  it('adds the capacity of a device', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    expect(await grants.putDevice(device('phone'))).toMatchObject({
      created: true,
      grant: { source: 'device', reference: 'phone', bytes: 100, model: undefined },
    })
    expect(await capacity(core)).toBe(1100)
  })

  it('adds what its model does, or the default when it has none', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await grants.putDevice(device('a', { model: 'camera' }))
    await grants.putDevice(device('b'))
    expect(await capacity(core)).toBe(1300)
    expect((await grants.listDevices(alice)).map(({ model }) => model)).toEqual([
      'camera',
      undefined,
    ])
  })

  it.each(['camera', 'constructor'])(
    'of any model, such as %s, adds the default without models',
    async (model) => {
      await using core = await openTestCore()
      const grants = await openGrants(core, new Map())
      await grants.putDevice(device('a', { model }))
      expect(await capacity(core)).toBe(1100)
    },
  )

  it('of a model that is known no longer keeps what it adds, and can be removed', async () => {
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

  it('adds its own bytes rather than those of its model, also 0', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await grants.putDevice(device('a', { model: 'camera', bytes: 7 }))
    await grants.putDevice(device('b', { model: 'camera', bytes: 0 }))
    expect(await capacity(core)).toBe(1007)
  })

  it('that joins twice counts once', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await grants.putDevice(device('phone'))
    expect(await grants.putDevice(device('phone'))).toMatchObject({ created: false })
    expect(await capacity(core)).toBe(1100)
    expect(await grants.listDevices(alice)).toHaveLength(1)
  })

  it('that joins many times at once counts once, and is created once', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    const joins = Array.from({ length: 8 }, () => grants.putDevice(device('phone')))
    const results = await Promise.all(joins)
    expect(results.filter(({ created }) => created)).toHaveLength(1)
    expect(await capacity(core)).toBe(1100)
  })

  it('that joins again counts with its last bytes and model', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await grants.putDevice(device('phone', { bytes: 7 }))
    await grants.putDevice(device('phone', { model: 'camera' }))
    expect(await capacity(core)).toBe(1200)
    expect(await grants.listDevices(alice)).toMatchObject([{ model: 'camera', bytes: 200 }])
  })

  it('that leaves takes its bytes away, and may leave twice', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await grants.putDevice(device('phone'))
    await grants.removeDevice({ userId: alice, deviceId: 'phone' })
    await grants.removeDevice({ userId: alice, deviceId: 'phone' })
    expect(await capacity(core)).toBe(1000)
    expect(await grants.listDevices(alice)).toEqual([])
  })

  it('that left and joins again is new', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await grants.putDevice(device('phone'))
    await grants.removeDevice({ userId: alice, deviceId: 'phone' })
    expect(await grants.putDevice(device('phone'))).toMatchObject({ created: true })
    expect(await capacity(core)).toBe(1100)
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
  it('adds its bytes until it is revoked, which may be done twice', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    expect(await grants.putGrant(grant())).toMatchObject({ created: true, grant: { bytes: 50 } })
    expect(await capacity(core)).toBe(1050)
    await grants.revokeGrant(grant())
    await grants.revokeGrant(grant())
    expect(await capacity(core)).toBe(1000)
    expect(await grants.listGrants(alice)).toEqual([])
  })

  it('counts once by source and reference, with its last terms', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await grants.putGrant(grant({ bytes: 50 }))
    await grants.putGrant(grant({ bytes: 30 }))
    await grants.putGrant(grant({ source: 'purchase', bytes: 5 }))
    await grants.putGrant(grant({ reference: 'autumn', bytes: 2 }))
    expect(await capacity(core)).toBe(1037)
  })

  it('that was revoked is new when it is granted again', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await grants.putGrant(grant())
    await grants.revokeGrant(grant())
    expect(await grants.putGrant(grant())).toMatchObject({ created: true })
  })

  it('counts from its start until its end, to the millisecond', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    const startsAt = core.clock.now + 10
    await grants.putGrant(grant({ startsAt, endsAt: startsAt + 5 }))
    const seen: (number | undefined)[] = []
    for (core.clock.now of [startsAt - 1, startsAt, startsAt + 4, startsAt + 5]) {
      seen.push(await capacity(core))
    }
    expect(seen).toEqual([1000, 1050, 1050, 1000])
  })

  it('is listed with its terms, beside devices', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    const [startsAt, endsAt] = [core.clock.now, core.clock.now + 1]
    await grants.putGrant(grant({ startsAt, endsAt }))
    await grants.putDevice(device('phone'))
    expect(await grants.listGrants(alice)).toMatchObject([
      { source: 'device', reference: 'phone' },
      { source: 'promotion', reference: 'spring', bytes: 50, startsAt, endsAt },
    ])
  })

  it('does not make a capacity above 2^53 - 1', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    await grants.putGrant(grant({ bytes: MAX_BYTES }))
    await grants.putGrant(grant({ reference: 'again', bytes: MAX_BYTES }))
    expect(await capacity(core)).toBe(MAX_BYTES)
  })

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

describe('a user that is unknown or deleted', () => {
  it.each(['unknown', 'deleted'])('%s: every call answers not_found', async (state) => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    const userId = parseUserId('bob')
    if (state === 'deleted') {
      await createTestUser(core, 'bob')
      await core.users.deleteUser(userId)
    }
    const calls = [
      grants.putDevice({ ...device('phone'), userId }),
      grants.removeDevice({ userId, deviceId: 'phone' }),
      grants.listDevices(userId),
      grants.putGrant(grant({ userId })),
      grants.revokeGrant(grant({ userId })),
      grants.listGrants(userId),
    ]
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'not_found' } })
    }
  })
})
