import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_BYTES } from '../../../src/core/byte-size.ts'
import { createGrants, type Grants } from '../../../src/core/quota/grants.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'
import { createTestUser } from '../../support/service/test-repository.ts'

const BASE = 1000
const DEVICE = 100
const CAMERA = 200
const alice = parseUserId('alice')

/** The plainest book of grants that could be: terms by key. */
type Model = Map<string, Terms>

interface Terms {
  readonly bytes: number
  /** In milliseconds after the start of the run. */
  readonly startsAt?: number | undefined
  readonly endsAt?: number | undefined
}

type Step =
  | { readonly do: 'join'; readonly id: string; readonly terms: { model?: string; bytes?: number } }
  | { readonly do: 'leave'; readonly id: string }
  | { readonly do: 'grant'; readonly key: readonly [string, string]; readonly terms: Terms }
  | { readonly do: 'revoke'; readonly key: readonly [string, string] }
  | { readonly do: 'replay'; readonly at: number }
  | { readonly do: 'wait'; readonly ms: number }

const bytes = fc.oneof(fc.nat({ max: 500 }), fc.constantFrom(0, MAX_BYTES - 1, MAX_BYTES))
const key = fc.tuple(fc.constantFrom('gift', 'purchase'), fc.constantFrom('1', '2', 'device'))
const id = fc.constantFrom('1', '2', 'cam')
const time = fc.option(fc.nat({ max: 40 }), { nil: undefined })
const terms = fc
  .record({ bytes, startsAt: time, endsAt: time })
  .filter(({ startsAt, endsAt }) => (endsAt ?? Infinity) > (startsAt ?? -Infinity))
const deviceTerms = fc.record({ model: fc.constant('camera'), bytes }, { requiredKeys: [] })

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('join' as const), id, terms: deviceTerms }),
  fc.record({ do: fc.constant('leave' as const), id }),
  fc.record({ do: fc.constant('grant' as const), key, terms }),
  fc.record({ do: fc.constant('revoke' as const), key }),
  fc.record({ do: fc.constant('replay' as const), at: fc.nat() }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 12 }) }),
)

describe('grants against their model', () => {
  it('make its capacity after any starts, ends, replays and revocations (property)', async () => {
    await using core = await openTestCore({ baseCapacity: BASE })
    const deviceModels = new Map([['camera', CAMERA]])
    const grants = createGrants({
      users: core.users,
      deviceCapacity: DEVICE,
      deviceModels,
      deviceShare: 'all',
    })
    await createTestUser(core)
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        await forgetAll(grants)
        await expectAgreement({ core, grants, steps })
      }),
      { numRuns: 60 },
    )
  })
})

async function expectAgreement(run: { core: TestCore; grants: Grants; steps: readonly Step[] }) {
  const { core, grants, steps } = run
  const start = core.clock.now
  const model: Model = new Map()
  const made: Step[] = []
  for (const step of steps) {
    const played = step.do === 'replay' ? made[step.at % Math.max(1, made.length)] : step
    if (played === undefined) continue
    if (played.do === 'wait') core.clock.now += played.ms
    else made.push(played)
    const created = await play(grants, { step: played, start })
    expect(created).toBe(record(model, played))
    expect(await seen(core)).toEqual(expected(model, core.clock.now - start))
  }
}

/** Makes a step true; says whether a grant was new, or nothing for steps that grant nothing. */
async function play(
  grants: Grants,
  { step, start }: { readonly step: Step; readonly start: number },
): Promise<boolean | undefined> {
  const after = (ms: number | undefined) => (ms === undefined ? undefined : start + ms)
  switch (step.do) {
    case 'join': {
      const { model, bytes } = step.terms
      const device = { userId: alice, deviceId: step.id, model, bytes }
      return (await grants.putDevice({ ...device, label: undefined, share: undefined })).created
    }
    case 'leave':
      await grants.removeDevice({ userId: alice, deviceId: step.id })
      return undefined
    case 'grant': {
      const [source, reference] = step.key
      const { bytes, startsAt, endsAt } = step.terms
      const period = { startsAt: after(startsAt), endsAt: after(endsAt) }
      return (await grants.putGrant({ userId: alice, source, reference, bytes, ...period })).created
    }
    case 'revoke': {
      const [source, reference] = step.key
      await grants.revokeGrant({ userId: alice, source, reference })
      return undefined
    }
    case 'replay':
    case 'wait':
      return undefined
  }
}

function record(model: Model, step: Step): boolean | undefined {
  if (step.do === 'leave' || step.do === 'revoke') {
    model.delete(step.do === 'leave' ? `device/${step.id}` : step.key.join('/'))
    return undefined
  }
  if (step.do !== 'join' && step.do !== 'grant') return undefined
  const key = step.do === 'join' ? `device/${step.id}` : step.key.join('/')
  const isNew = !model.has(key)
  model.set(key, step.do === 'join' ? { bytes: deviceBytes(step.terms) } : step.terms)
  return isNew
}

function deviceBytes({ model, bytes }: { model?: string; bytes?: number }): number {
  return bytes ?? (model === 'camera' ? CAMERA : DEVICE)
}

/** What the ledger says, read by both of its methods. */
async function seen({ ledger }: TestCore): Promise<unknown> {
  const report = await ledger.reportCapacity(alice)
  const account = await ledger.findAccount(alice)
  expect(report?.usage).toEqual(account?.usage)
  const keys = report?.grants.map(({ source, reference, bytes }) => [
    `${source}/${reference}`,
    bytes,
  ])
  return { capacity: report?.usage.capacity, grants: keys }
}

function expected(model: Model, now: number): unknown {
  const inForce = [...model]
    .filter(([, { startsAt, endsAt }]) => (startsAt ?? now) <= now && (endsAt ?? Infinity) > now)
    .map(([key, { bytes }]) => [key, bytes] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const sum = inForce.reduce((total, [, bytes]) => total + BigInt(bytes), BigInt(BASE))
  return { capacity: Number(sum > MAX_BYTES ? BigInt(MAX_BYTES) : sum), grants: inForce }
}

/** The next run's user has nothing yet. */
async function forgetAll(grants: Grants): Promise<void> {
  for (const { source, reference } of await grants.listGrants(alice)) {
    if (source === 'device') await grants.removeDevice({ userId: alice, deviceId: reference })
    else await grants.revokeGrant({ userId: alice, source, reference })
  }
}
