import { describe, expect, it } from 'vitest'
import { MAX_BYTES } from '../../../src/core/byte-size.ts'
import type { DeviceShare } from '../../../src/core/quota/device-share.ts'
import {
  createGrants,
  type Grants,
  type PutDevice,
  type PutGrant,
} from '../../../src/core/quota/grants.ts'
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
  return createGrants({ users: core.users, deviceCapacity: 100, deviceModels, deviceShare: 'own' })
}

async function capacity({ ledger }: TestCore, userId: UserId = alice): Promise<number | undefined> {
  return (await readUsage(ledger, userId))?.capacity
}

function device(deviceId: string, terms: Partial<PutDevice> = {}): PutDevice {
  const none = { model: undefined, bytes: undefined, label: undefined, share: undefined }
  return { userId: alice, deviceId, ...none, ...terms }
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
    const { users } = core
    const grants = createGrants({ users, deviceCapacity: 100, deviceModels, deviceShare: 'all' })
    await expect(grants.putDevice(device('a', { model: 'camera' }))).rejects.toMatchObject({
      message: 'model must be in DEVICE_MODELS, which has: camera-2.',
    })
    expect(await grants.listDevices(alice)).toMatchObject([{ model: 'camera', bytes: 200 }])
    expect(await capacity(core)).toBe(1200)
    await grants.removeDevice({ userId: alice, deviceId: 'a' })
    expect(await capacity(core)).toBe(1000)
  })

  it('a device has the share of its last terms, or the default of that time, and a label if it is told', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    const shares: readonly (DeviceShare | undefined)[] = ['all', 'own', 0, 7, MAX_BYTES, undefined]
    for (const share of shares) {
      const terms = { label: `label ${share}`, share: share ?? 'own' } as const
      const { grant } = await grants.putDevice(device('a', { ...terms, share }))
      expect(grant).toMatchObject(terms)
      expect(await grants.listDevices(alice)).toEqual([grant])
    }
    await grants.putDevice(device('a'))
    expect(await grants.listDevices(alice)).toMatchObject([{ label: undefined, share: 'own' }])
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
    ['label', device('a', { label: 'a'.repeat(201) })],
    ['label', device('a', { label: 'a\nb' })],
    ['label', device('a', { label: '\ud800' })],
    ['share', device('a', { share: 'none' as DeviceShare })],
    ['share', device('a', { share: '7' as DeviceShare })],
    ['share', device('a', { share: -1 })],
    ['share', device('a', { share: 0.5 })],
    ['share', device('a', { share: MAX_BYTES + 1 })],
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

  it('has neither a label nor a share', async () => {
    await using core = await openTestCore()
    const grants = await openGrants(core)
    const { grant: put } = await grants.putGrant(grant())
    expect(put).toMatchObject({ model: undefined, label: undefined, share: undefined })
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
