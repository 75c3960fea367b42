import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createVersion, type Version } from '../../src/core/version.ts'
import {
  type Account,
  BASE_CAPACITY,
  grantOf,
  type LedgerHarness,
  openAccount,
  outcomeOf,
} from './ledger-fixture.ts'
import { LedgerModel } from './ledger-model.ts'

/** Any sequence of operations answers and ends as a plain model in memory says, step by step. */
export function ledgerModelContract(
  name: string,
  open: () => Promise<LedgerHarness>,
  runs: number,
): void {
  describe(`ledger against its model on ${name}`, () => {
    let harness: LedgerHarness

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())

    it('agrees with it on every answer and every figure', async () => {
      const property = fc.asyncProperty(operations, (operations) => follow(harness, operations))
      await expect(fc.assert(property, { numRuns: runs })).resolves.toBeUndefined()
    })
  })
}

const NAMES = ['a', 'b', 'c', 'd'] as const
const MAX_FILES = 3

type Operation =
  | { readonly kind: 'begin'; readonly user: number; readonly name: string; readonly bytes: number }
  | {
      readonly kind: 'extend' | 'commit' | 'abort'
      readonly upload: number
      readonly bytes: number
    }
  | { readonly kind: 'grant' | 'revoke'; readonly user: number; readonly bytes: number }
  | { readonly kind: 'activate' | 'suspend'; readonly user: number }

const user = fc.nat({ max: 1 })
const upload = fc.nat({ max: 9 })
const bytes = fc.oneof(fc.nat({ max: 60 }), fc.constantFrom(0, 1, 99, 100, 101))
const name = fc.constantFrom(...NAMES)

const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('begin' as const), user, name, bytes }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('commit' as const), upload, bytes }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constantFrom('extend', 'abort'), upload, bytes }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('grant', 'revoke'), user, bytes }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('activate', 'suspend'), user }) },
  ),
  { maxLength: 40 },
)

interface Owner {
  readonly account: Account
  readonly model: LedgerModel
}

interface World {
  readonly harness: LedgerHarness
  readonly owners: readonly Owner[]
  readonly uploads: { readonly owner: Owner; readonly version: Version }[]
}

async function follow(harness: LedgerHarness, operations: readonly Operation[]): Promise<void> {
  const owners = [await openOwner(harness), await openOwner(harness)]
  const world = { harness, owners, uploads: [] }
  for (const operation of operations) {
    await step(world, operation)
    for (const { account, model } of owners) {
      expect(await account.usage()).toEqual(model.usage)
      expect(model.usage).toMatchObject(await harness.audit(account.userId))
    }
  }
  for (const { account, model } of owners) {
    for (const name of NAMES) expect(await account.size(name)).toBe(model.sizeOf(name))
  }
}

async function openOwner(harness: LedgerHarness): Promise<Owner> {
  const model = new LedgerModel({ base: BASE_CAPACITY, maxFiles: MAX_FILES })
  return { account: await openAccount(harness), model }
}

async function step(world: World, operation: Operation): Promise<void> {
  if ('upload' in operation) return await settle(world, operation)
  const owner = world.owners[operation.user]
  if (owner === undefined) return
  if (operation.kind === 'begin') return await begin(world, { owner, ...operation })
  await administrate(world, { owner, operation })
}

async function begin(
  { uploads }: World,
  upload: { readonly owner: Owner; readonly name: string; readonly bytes: number },
): Promise<void> {
  const { owner, name, bytes } = upload
  const version = createVersion()
  const begun = owner.account.begin(name, bytes, { version, maxFiles: MAX_FILES })
  expect(await outcomeOf(begun)).toBe(owner.model.begin({ id: version, name, bytes }))
  uploads.push({ owner, version })
}

async function settle(
  { uploads }: World,
  { kind, upload, bytes }: Extract<Operation, { readonly upload: number }>,
): Promise<void> {
  const chosen = uploads.at(-1 - upload)
  if (chosen === undefined) return
  const { version } = chosen
  const { account, model } = chosen.owner
  if (kind === 'abort') {
    expect(await account.abort(version)).toBe(model.abort(version))
  } else if (kind === 'extend') {
    expect(await outcomeOf(account.extend(version, bytes))).toBe(model.extend(version, bytes))
  } else {
    const committed = account.commit(version, bytes, { maxFiles: MAX_FILES })
    expect(await outcomeOf(committed)).toBe(model.commit(version, bytes))
  }
}

async function administrate(
  { harness }: World,
  { owner, operation }: { readonly owner: Owner; readonly operation: Operation },
): Promise<void> {
  const { account, model } = owner
  const grant = grantOf(account.userId, 'gift')
  if (operation.kind === 'grant') {
    await harness.users.putGrant({ ...grant, bytes: operation.bytes })
    model.granted = operation.bytes
  } else if (operation.kind === 'revoke') {
    await harness.users.revokeGrant(grant)
    model.granted = 0
  } else {
    model.active = operation.kind === 'activate'
    await harness.users.setUserStatus(account.userId, model.active ? 'active' : 'suspended')
  }
}
