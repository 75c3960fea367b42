import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { type File, NEVER, type Visibility } from '../../../src/core/files/file.ts'
import type { Precondition } from '../../../src/core/files/precondition.ts'
import { createVersion, type Version } from '../../../src/core/objects/object-key.ts'
import {
  type Account,
  BASE_CAPACITY,
  grantOf,
  LONG_MS,
  type LedgerHarness,
  openAccount,
  type OpenHarness,
  outcomeOf,
} from './fixture.ts'
import { type Answer, LedgerModel } from './ledger-model.ts'

/** Any sequence of operations answers and ends as a plain model in memory says, step by step. */
export function ledgerModelContract(name: string, open: OpenHarness, runs: number): void {
  describe(`ledger against its model on ${name}`, () => {
    let harness: LedgerHarness
    /** Kinds of operations with what they came to. */
    const seen = new Set<string>()

    beforeAll(async () => {
      harness = await open({ limits: { maxFiles: MAX_FILES, maxUploads: MAX_UPLOADS } })
    })
    afterAll(() => harness.close())

    it('agrees with it on every answer and every figure', async () => {
      const property = fc.asyncProperty(operations, (all) => follow(harness, all, seen))
      await expect(fc.assert(property, { numRuns: runs })).resolves.toBeUndefined()
      const unseen = runs >= ENOUGH_RUNS ? ALL_OUTCOMES.filter((outcome) => !seen.has(outcome)) : []
      expect(unseen).toEqual([])
    })
  })
}

/** Fewer do not come to every outcome. */
const ENOUGH_RUNS = 50

/** Without each of these the property would show little. */
const ALL_OUTCOMES = [
  'begin ok',
  'begin capacity_exceeded',
  'begin file_count_exceeded',
  'begin precondition_failed',
  'begin too_many_requests',
  'begin user_suspended',
  'commit ok',
  'commit capacity_exceeded',
  'commit precondition_failed',
  'commit unavailable',
  'extend ok',
  'extend capacity_exceeded',
  'abort aborted',
  'abort committed',
  'remove ok',
  'remove not_found',
  'change ok',
  'change not_found',
  'change precondition_failed',
  'rename ok',
  'rename file_exists',
]

// Files in folders, beside and below others; `cam0` is the first name after those with the prefix `cam/`.
const NAMES = [
  'cam/1',
  'cam/1/0',
  'cam/2 %?#',
  'cam/\u00fc',
  'cam/u\u0308',
  'cam0',
  'cam',
  'doc/2',
] as const
/** What uploads may evict: none, some, few or all of the files. */
const PREFIXES = ['cam/', 'cam/1', 'doc/', 'x', ''] as const
const MAX_FILES = 5
const MAX_UPLOADS = 4

/** What a write demands of the file: nothing, or something of its version. */
type Demand = 'nothing' | 'new' | 'there' | 'same' | 'other'

/** `put` is `begin` and a commit at once. */
interface Begin {
  readonly kind: 'begin' | 'put'
  readonly user: number
  readonly name: string
  readonly bytes: number
  readonly evict: string | undefined
  readonly credential: string | undefined
  readonly expiry: Expiry
  readonly demand: Demand
}

/** When a file expires: never, at a time that a test does not reach, or before the next operation. */
type Expiry = 'never' | 'late' | 'soon'

interface Settle {
  readonly kind: 'extend' | 'commit' | 'abort'
  readonly upload: number
  readonly bytes: number
  readonly demand: Demand
  readonly visibility: Visibility | undefined
  readonly expiry: Expiry
}

interface ChangeFiles {
  readonly kind: 'remove' | 'change'
  readonly user: number
  readonly name: string
  readonly newName: string | undefined
  readonly visibility: Visibility | undefined
  readonly isKept: boolean | undefined
  readonly expiry: Expiry | undefined
  readonly overwrite: boolean
  readonly demand: Demand
}

type Operation = Begin | Settle | ChangeFiles | Administration | { readonly kind: 'wait' }

type Administration =
  | { readonly kind: 'grant' | 'revoke'; readonly user: number; readonly bytes: number }
  | { readonly kind: 'activate' | 'suspend' | 'sweep'; readonly user: number }

const user = fc.constantFrom(0, 0, 0, 1)
const upload = fc.nat({ max: 9 })
const bytes = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 30 }) },
  { weight: 1, arbitrary: fc.nat({ max: 90 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 99, 100, 101) },
)
const name = fc.constantFrom(...NAMES)
const evict = fc.constantFrom(undefined, undefined, ...PREFIXES, 'cam/' as const)
const credential = fc.constantFrom(undefined, undefined, undefined, 'phone', 'camera')
const expiry = fc.oneof(
  { weight: 6, arbitrary: fc.constant('never' as const) },
  { weight: 2, arbitrary: fc.constantFrom('late', 'soon') },
)
const demand = fc.oneof(
  { weight: 8, arbitrary: fc.constant('nothing' as const) },
  { weight: 2, arbitrary: fc.constantFrom('new', 'there', 'same', 'other') },
)
const visibility = fc.constantFrom(undefined, 'private', 'users', 'public')
const change = {
  user,
  name,
  demand,
  visibility,
  newName: fc.option(name, { nil: undefined, freq: 2 }),
  isKept: fc.constantFrom(undefined, true, true, false),
  expiry: fc.constantFrom(undefined, undefined, 'never' as const, 'late' as const, 'soon' as const),
  overwrite: fc.boolean(),
}

/** Beside what others have stored and reserved, some of them are too many. */
const received = fc.oneof(bytes, fc.nat({ max: 110 }))
const settling = { upload, bytes: received, demand, visibility, expiry }
const writing = { user, name, bytes, evict, credential, expiry, demand }

const kinds = <K extends Operation['kind']>(...all: K[]): fc.Arbitrary<K> => fc.constantFrom(...all)

const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: fc.record({ kind: kinds('begin'), ...writing }) },
    { weight: 24, arbitrary: fc.record({ kind: kinds('put'), ...writing }) },
    {
      weight: 10,
      arbitrary: fc.record({ kind: kinds('commit'), ...settling }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ kind: kinds('extend', 'abort'), ...settling }),
    },
    {
      weight: 18,
      arbitrary: fc.record({
        kind: kinds('remove', 'change', 'change', 'change', 'change'),
        ...change,
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: kinds('grant', 'revoke'), user, bytes }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: kinds('activate', 'activate', 'activate', 'suspend', 'sweep', 'sweep'),
        user,
      }),
    },
    { weight: 8, arbitrary: fc.record({ kind: kinds('wait') }) },
  ),
  { minLength: 15, maxLength: 60, size: 'max' },
)

interface Owner {
  readonly account: Account
  readonly model: LedgerModel
}

interface World {
  readonly harness: LedgerHarness
  readonly owners: readonly Owner[]
  readonly seen: Set<string>
  readonly uploads: {
    readonly owner: Owner
    readonly version: Version
    readonly name: string
    readonly evict: string | undefined
  }[]
}

async function follow(
  harness: LedgerHarness,
  operations: readonly Operation[],
  seen: Set<string>,
): Promise<void> {
  const owners = [await openOwner(harness), await openOwner(harness)]
  const world = { harness, owners, seen, uploads: [] }
  for (const operation of operations) {
    await step(world, operation)
    for (const { model } of owners) model.now = harness.now()
    for (const { account, model } of owners) {
      expect(await account.usage()).toEqual(model.usage)
      expect(await harness.runningUploads(account.userId)).toBe(model.uploads)
      expect(model.usage).toMatchObject(await harness.audit(account.userId))
      await compareListings(account, model)
    }
  }
  for (const { account, model } of owners) {
    for (const name of NAMES) expect(await account.size(name)).toBe(model.sizeOf(name))
    await compareEnds(world, { account, model })
  }
}

type Shown = Pick<
  ReturnType<LedgerModel['list']>[number],
  'name' | 'version' | 'size' | 'visibility' | 'updatedAt' | 'expiresAt'
>

async function compareListings(account: Account, model: LedgerModel): Promise<void> {
  const shown = (files: readonly (Shown & { readonly isKept: boolean | 0 | 1 })[]) =>
    files.map(({ name, version, size, visibility, updatedAt, expiresAt, isKept }) => {
      return { name, version, size, visibility, updatedAt, expiresAt, isKept: Boolean(isKept) }
    })
  const files = model.list().sort((a, b) => (a.name < b.name ? -1 : 1))
  expect(shown(await account.list())).toEqual(shown(files))
  const bySize = files.toReversed().sort((a, b) => b.size - a.size)
  const shared = bySize.filter(({ visibility }) => visibility !== 'private').slice(0, 2)
  const page = { order: '-size', audience: 'users', limit: 2 } as const
  expect(shown(await account.list(page))).toEqual(shown(shared))
}

/** Which files were evicted, in their order, and which were removed because they had expired. */
async function compareEnds({ harness }: World, { account, model }: Owner): Promise<void> {
  await harness.users.setUserStatus(account.userId, 'active')
  const read = await harness.ledger.readChanges({ ...account, after: 0, limit: 1000 })
  const namesOf = (type: string): string[] =>
    (read?.changes ?? []).flatMap((change) =>
      'file' in change && change.type === type ? [change.file.name] : [],
    )
  expect(namesOf('file.evicted')).toEqual(model.evicted)
  expect(namesOf('file.expired').sort()).toEqual(model.expired.sort())
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
  if (operation.kind === 'wait') return await world.harness.advance(2)
  if ('upload' in operation) return await settle(world, operation)
  const owner = world.owners[operation.user]
  if (owner === undefined) return
  if ('evict' in operation) {
    await begin(world, { owner, ...operation })
    if (operation.kind === 'begin') return
    await settle(world, { ...operation, kind: 'commit', upload: 0, visibility: undefined })
  } else if ('overwrite' in operation) {
    await changeFiles(world, { owner, ...operation })
  } else {
    await administrate(world, { owner, operation })
  }
}

async function begin(
  { harness, uploads, seen }: World,
  upload: Omit<Begin, 'user'> & { readonly owner: Owner },
): Promise<void> {
  const { owner, name, bytes, evict, credential } = upload
  const version = createVersion()
  const precondition = preconditionOf(owner, upload)
  const terms = { precondition, evict: prefixOf(evict), credential }
  const { userId, userCreatedAt } = owner.account
  const asked = { userId, userCreatedAt, name: parseFileName(name), bytes, ...terms }
  const mayBegin = await answerOf(harness.ledger.checkBegin(asked))
  const begun = await answerOf(owner.account.begin(name, bytes, { version, ...terms }))
  const said = { id: version, name, bytes, precondition, evict, credential }
  const expected = owner.model.begin(said)
  expect([mayBegin, begun]).toEqual([expected, expected])
  seen.add(`begin ${begun.code}`)
  uploads.push({ owner, version, name, evict })
}

async function settle({ harness, uploads, seen }: World, operation: Settle): Promise<void> {
  const { kind, upload, bytes, visibility, expiry } = operation
  // Most uploads are settled at once, so that one that is not has to be looked for.
  const pending = uploads.filter(({ owner, version }) => owner.model.isPending(version))
  const among = upload % 4 > 0 && pending.length > 0 ? pending : uploads
  const chosen = among.at(-1 - (upload % among.length))
  if (chosen === undefined) return
  const { version, owner, name } = chosen
  const { account, model } = owner
  const evict = prefixOf(chosen.evict)
  if (kind === 'abort') {
    const outcome = await account.abort(version)
    expect(outcome).toBe(model.abort(version))
    seen.add(`abort ${outcome}`)
  } else if (kind === 'extend') {
    const answer = await answerOf(account.extend(version, bytes, { evict }))
    expect(answer).toEqual(model.extend(version, bytes))
    seen.add(`extend ${answer.code}`)
  } else {
    const precondition = preconditionOf(owner, { name, demand: operation.demand })
    const expiresInMs = { never: undefined, soon: 1, late: LONG_MS }[expiry]
    const terms = { precondition, visibility, evict, expiresInMs }
    const { answer, value } = await resultOf(account.commit(version, bytes, terms))
    if (!model.isCommitted(version)) stamp(model, value?.file, expiresInMs)
    expect(answer).toEqual(
      model.commit(version, { size: bytes, precondition, visibility, expiresInMs }),
    )
    expect(value?.evicted).toEqual(value && model.evictedBy(version))
    seen.add(`commit ${answer.code}`)
    if (expiry === 'soon') await harness.advance(3)
  }
}

/** Moves the model's times to those of the change which the ledger has answered. */
function stamp(model: LedgerModel, file: File | undefined, expiresInMs?: number): void {
  if (file === undefined) return
  const { updatedAt, expiresAt } = file
  const now = expiresInMs === undefined ? model.now : expiresAt - expiresInMs
  // The clocks of the test and of the database round.
  expect(now).toBeGreaterThanOrEqual(model.now - 1)
  expect(updatedAt).toBeGreaterThanOrEqual(now - 1)
  expect(updatedAt).toBeGreaterThan(model.date)
  model.now = now
  model.date = updatedAt
}

async function changeFiles(
  { harness, seen }: World,
  operation: Omit<ChangeFiles, 'user'> & { readonly owner: Owner },
): Promise<void> {
  const { owner, kind, newName, visibility, isKept, overwrite } = operation
  const { account, model } = owner
  // Any file that there is, so that some are kept when others are evicted.
  const [any] = isKept === true ? model.list() : []
  const name = any?.name ?? operation.name
  const precondition = preconditionOf(owner, { ...operation, name })
  if (kind === 'remove') {
    const removed = await outcomeOf(account.remove(name, { precondition }))
    seen.add(`remove ${removed}`)
    return expect(removed).toBe(model.remove({ name, precondition }))
  }
  const expiresAt = timeOf(harness, operation.expiry)
  const terms = { visibility, isKept, expiresAt, overwrite, precondition }
  const rename = newName === undefined ? {} : { newName }
  const { answer, value } = await resultOf(account.change(name, { ...rename, ...terms }))
  // The clock of a slow database goes on.
  const isTooLate = answer.code === 'invalid_parameter' && harness.now() >= (expiresAt ?? NEVER)
  // Who may read a file is no change of it.
  const before = model.list().find((file) => file.name === name)
  if (value?.updatedAt !== before?.updatedAt) stamp(model, value)
  seen.add(`${newName === undefined || newName === name ? 'change' : 'rename'} ${answer.code}`)
  if (!isTooLate) expect(answer.code).toBe(model.change({ name, newName, ...terms }))
  if (operation.expiry === 'soon') await harness.advance(SOON_MS + 1)
}

const SOON_MS = 30

function timeOf(harness: LedgerHarness, expiry: Expiry | undefined): number | undefined {
  switch (expiry) {
    case undefined:
      return undefined
    case 'never':
      return NEVER
    case 'late':
      return harness.now() + LONG_MS
    case 'soon':
      return harness.now() + SOON_MS
  }
}

function prefixOf(evict: string | undefined) {
  return evict === undefined ? undefined : parseFileNamePrefix(evict)
}

async function answerOf(operation: Promise<unknown>): Promise<Answer> {
  return (await resultOf(operation)).answer
}

interface Result<T> {
  readonly answer: Answer
  readonly value: T | undefined
}

async function resultOf<T>(operation: Promise<T>): Promise<Result<T>> {
  try {
    return { answer: { code: 'ok' }, value: await operation }
  } catch (error) {
    if (!isAppError(error)) throw error
    const { code, facts } = error
    const { evictable } = facts as { readonly evictable?: number }
    return { answer: evictable === undefined ? { code } : { code, evictable }, value: undefined }
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
  } else if (operation.kind === 'sweep') {
    const sweep = { userId: account.userId, limit: 100 }
    expect(await harness.ledger.expireFiles(sweep)).toBe(model.sweep())
  } else {
    model.active = operation.kind === 'activate'
    await harness.users.setUserStatus(account.userId, model.active ? 'active' : 'suspended')
  }
}
