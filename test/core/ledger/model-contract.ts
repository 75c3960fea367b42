import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Visibility } from '../../../src/core/files/file.ts'
import type { Precondition } from '../../../src/core/files/precondition.ts'
import { createVersion, type Version } from '../../../src/core/objects/object-key.ts'
import {
  type Account,
  BASE_CAPACITY,
  grantOf,
  type LedgerHarness,
  openAccount,
  outcomeOf,
} from './fixture.ts'
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
const MAX_UPLOADS = 4

/** What a write demands of the file: nothing, or something of its version. */
type Demand = 'nothing' | 'new' | 'there' | 'same' | 'other'

interface Begin {
  readonly kind: 'begin'
  readonly user: number
  readonly name: string
  readonly bytes: number
  readonly demand: Demand
}

interface Settle {
  readonly kind: 'extend' | 'commit' | 'abort'
  readonly upload: number
  readonly bytes: number
  readonly demand: Demand
  readonly visibility: Visibility | undefined
}

interface ChangeFiles {
  readonly kind: 'remove' | 'change'
  readonly user: number
  readonly name: string
  readonly newName: string | undefined
  readonly visibility: Visibility | undefined
  readonly overwrite: boolean
  readonly demand: Demand
}

type Operation = Begin | Settle | ChangeFiles | Administration

type Administration =
  | { readonly kind: 'grant' | 'revoke'; readonly user: number; readonly bytes: number }
  | { readonly kind: 'activate' | 'suspend'; readonly user: number }

const user = fc.nat({ max: 1 })
const upload = fc.nat({ max: 9 })
const bytes = fc.oneof(fc.nat({ max: 60 }), fc.constantFrom(0, 1, 99, 100, 101))
const name = fc.constantFrom(...NAMES)
const demand = fc.oneof(
  { weight: 3, arbitrary: fc.constant('nothing' as const) },
  { weight: 2, arbitrary: fc.constantFrom('new', 'there', 'same', 'other') },
)
const visibility = fc.constantFrom(undefined, 'private', 'users', 'public')
const change = {
  user,
  name,
  demand,
  visibility,
  newName: fc.option(name, { nil: undefined }),
  overwrite: fc.boolean(),
}

const kinds = <K extends Operation['kind']>(...all: K[]): fc.Arbitrary<K> => fc.constantFrom(...all)

const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: kinds('begin'), user, name, bytes, demand }) },
    {
      weight: 5,
      arbitrary: fc.record({ kind: kinds('commit'), upload, bytes, demand, visibility }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: kinds('extend', 'abort'), upload, bytes, demand, visibility }),
    },
    { weight: 4, arbitrary: fc.record({ kind: kinds('remove', 'change', 'change'), ...change }) },
    { weight: 2, arbitrary: fc.record({ kind: kinds('grant', 'revoke'), user, bytes }) },
    { weight: 1, arbitrary: fc.record({ kind: kinds('activate', 'suspend'), user }) },
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
  readonly uploads: { readonly owner: Owner; readonly version: Version; readonly name: string }[]
}

async function follow(harness: LedgerHarness, operations: readonly Operation[]): Promise<void> {
  const owners = [await openOwner(harness), await openOwner(harness)]
  const world = { harness, owners, uploads: [] }
  for (const operation of operations) {
    await step(world, operation)
    for (const { account, model } of owners) {
      expect(await account.usage()).toEqual(model.usage)
      expect(await harness.runningUploads(account.userId)).toBe(model.uploads)
      expect(model.usage).toMatchObject(await harness.audit(account.userId))
      await compareListings(account, model)
    }
  }
  for (const { account, model } of owners) {
    for (const name of NAMES) expect(await account.size(name)).toBe(model.sizeOf(name))
  }
}

async function compareListings(account: Account, model: LedgerModel): Promise<void> {
  const shown = (files: readonly ReturnType<LedgerModel['list']>[number][]) =>
    files.map(({ name, version, size, visibility }) => ({ name, version, size, visibility }))
  const files = model.list().sort((a, b) => (a.name < b.name ? -1 : 1))
  expect(shown(await account.list())).toEqual(shown(files))
  const bySize = files.toReversed().sort((a, b) => b.size - a.size)
  const shared = bySize.filter(({ visibility }) => visibility !== 'private').slice(0, 2)
  const page = { order: '-size', audience: 'users', limit: 2 } as const
  expect(shown(await account.list(page))).toEqual(shown(shared))
}

async function openOwner(harness: LedgerHarness): Promise<Owner> {
  const model = new LedgerModel({
    base: BASE_CAPACITY,
    maxFiles: MAX_FILES,
    maxUploads: MAX_UPLOADS,
  })
  return { account: await openAccount(harness), model }
}

async function step(world: World, operation: Operation): Promise<void> {
  if ('upload' in operation) return await settle(world, operation)
  const owner = world.owners[operation.user]
  if (owner === undefined) return
  if (operation.kind === 'begin') await begin(world, { owner, ...operation })
  else if ('demand' in operation) await changeFiles(owner, operation)
  else await administrate(world, { owner, operation })
}

async function begin(
  { uploads }: World,
  upload: Omit<Begin, 'user'> & { readonly owner: Owner },
): Promise<void> {
  const { owner, name, bytes } = upload
  const version = createVersion()
  const precondition = preconditionOf(owner, upload)
  const limits = { maxFiles: MAX_FILES, maxUploads: MAX_UPLOADS }
  const begun = owner.account.begin(name, bytes, { version, precondition, ...limits })
  const expected = owner.model.begin({ id: version, name, bytes, precondition })
  expect(await outcomeOf(begun)).toBe(expected)
  uploads.push({ owner, version, name })
}

async function settle({ uploads }: World, operation: Settle): Promise<void> {
  const { kind, upload, bytes, visibility } = operation
  const chosen = uploads.at(-1 - upload)
  if (chosen === undefined) return
  const { version, owner, name } = chosen
  const { account, model } = owner
  if (kind === 'abort') {
    expect(await account.abort(version)).toBe(model.abort(version))
  } else if (kind === 'extend') {
    expect(await outcomeOf(account.extend(version, bytes))).toBe(model.extend(version, bytes))
  } else {
    const precondition = preconditionOf(owner, { name, demand: operation.demand })
    const limits = { maxFiles: MAX_FILES, precondition, visibility }
    const committed = account.commit(version, bytes, limits)
    const expected = model.commit(version, { size: bytes, precondition, visibility })
    expect(await outcomeOf(committed)).toBe(expected)
  }
}

async function changeFiles(owner: Owner, operation: ChangeFiles): Promise<void> {
  const { account, model } = owner
  const { kind, name, newName, visibility, overwrite } = operation
  const precondition = preconditionOf(owner, operation)
  if (kind === 'remove') {
    const removed = account.remove(name, { precondition })
    expect(await outcomeOf(removed)).toBe(model.remove({ name, precondition }))
  } else {
    const rename = newName === undefined ? {} : { newName }
    const changed = account.change(name, { ...rename, visibility, overwrite, precondition })
    const expected = model.change({ name, newName, visibility, overwrite, precondition })
    expect(await outcomeOf(changed)).toBe(expected)
  }
}

function preconditionOf(
  { model }: Owner,
  { name, demand }: { readonly name: string; readonly demand: Demand },
): Precondition | undefined {
  const versions = [model.versionOf(name) ?? 'none']
  switch (demand) {
    case 'nothing':
      return undefined
    case 'new':
      return { ifNoneMatch: '*' }
    case 'there':
      return { ifMatch: '*' }
    case 'same':
      return { ifMatch: versions }
    case 'other':
      return { ifNoneMatch: versions }
  }
}

async function administrate(
  { harness }: World,
  { owner, operation }: { readonly owner: Owner; readonly operation: Administration },
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
