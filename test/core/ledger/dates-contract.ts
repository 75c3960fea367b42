import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type File, NEVER } from '../../../src/core/files/file.ts'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { lastModified } from '../../../src/core/files/last-modified.ts'
import type { FileOperation } from '../../../src/core/files/operation.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import {
  type Account,
  type Change,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  outcomeOf,
} from './fixture.ts'

/** The dates of an account, whatever the clock does. */
export function ledgerDatesContract(
  name: string,
  open: (options: Partial<LedgerOptions>) => Promise<LedgerHarness>,
  runs: number,
): void {
  describe(`dates of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: 100 * LONG_MS, historyShare: 90 })
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    it('F12 H13 never go back, and no two contents of a name have the same date', async () => {
      const property = fc.asyncProperty(steps, (story) => follow(harness, story))
      await expect(fc.assert(property, { numRuns: runs })).resolves.toBeUndefined()
    })

    it('H13 run ahead by a second for each content of a name within one, and by a millisecond for each commit', async () => {
      const { file: first } = await account.put('a', 1)
      const before = await account.put('a', 2)
      const count = 50
      const overwrites = Array.from({ length: count }, (_, at) => at + 3)
      for (const size of overwrites) await account.put('a', size)
      const [last] = await account.list()
      if (last === undefined) throw new Error('The file is missing.')
      const passedMs = harness.now() - first.createdAt
      expect(last.updatedAt - first.createdAt).toBeLessThanOrEqual(passedMs + count + 1)
      const seconds = (lastModified(last) - lastModified(before.file)) / 1000
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThanOrEqual(count + passedMs / 1000)
      await account.remove('a')
      const { file: next } = await account.put('b', 1)
      expect(lastModified(next)).toBe(lastModified(last) + 1000)
      expect(next.updatedAt).toBeLessThan(lastModified(last))
    })

    it('F12 evict what was stored first, after the clock went back', async () => {
      await account.put('cam-1', 60)
      await harness.advance(-2 * LONG_MS)
      await account.put('cam-2', 30)
      const evict = parseFileNamePrefix('cam-')
      const version = await account.begin('cam-3', 50, { evict })
      await account.commit(version, 50, { evict })
      expect((await account.list()).map((file) => file.name)).toEqual(['cam-2', 'cam-3'])
      await harness.advance(2 * LONG_MS)
    })

    it('do not move when a file is shared, and neither does the order of eviction', async () => {
      await account.put('cam-1', 40)
      const { file } = await account.put('cam-2', 40)
      const [first] = await account.list()
      for (const change of [
        { visibility: 'users' },
        { visibility: 'public' },
        { isKept: false },
        {},
      ])
        await account.change('cam-1', change as Change)
      const [seen] = await account.list()
      expect(seen).toEqual({ ...first, visibility: 'public' })
      const described = await account.change('cam-2', { metadata: { a: 'b' } })
      expect(described.updatedAt).toBeGreaterThan(file.updatedAt)
      const name = parseFileName('cam-2')
      const kept = { overwrite: false, visibility: 'users' } as const
      const { userId, userCreatedAt } = account
      const changed = await harness.ledger.changeFiles({
        userId,
        userCreatedAt,
        operations: [
          { op: 'update', name, ...kept, newName: parseFileName('cam-3') },
          { op: 'update', name: parseFileName('cam-3'), ...kept, visibility: 'public' },
          { op: 'update', name: parseFileName('cam-1'), ...kept, isKept: false },
        ],
      })
      const [renamed, shared, same] = changed.files
      expect(renamed?.updatedAt).toBeGreaterThan(described.updatedAt)
      expect(shared?.updatedAt).toBe(renamed?.updatedAt)
      expect(same?.updatedAt).toBe(first?.updatedAt)
      const evict = parseFileNamePrefix('cam-')
      const version = await account.begin('cam-4', 50, { evict })
      await account.commit(version, 50, { evict })
      expect((await account.list()).map((each) => each.name)).toEqual(['cam-3', 'cam-4'])
    })

    it('F12 leave deadlines to the clock, after it was years ahead', async () => {
      const years = 10 * 365 * 24 * LONG_MS
      await harness.advance(years)
      await account.put('a', 1)
      await harness.advance(-years)
      const soon = (time: number) => {
        expect(Math.abs(time - harness.now() - LONG_MS)).toBeLessThan(1000)
      }
      soon((await account.put('b', 1, { expiresInMs: LONG_MS })).file.expiresAt)
      // The same content leaves no past version.
      const { file } = await account.put('b', 1)
      const { garbage } = await harness.keys(account.userId)
      expect(garbage.map(({ notBefore }) => notBefore)).toHaveLength(1)
      for (const { notBefore } of garbage) soon(notBefore)
      expect(file.updatedAt).toBeGreaterThan(harness.now() + years / 2)
    })

    it('H13 refuse a write by the date of another content within the same second', async () => {
      await harness.advance(1000 - (harness.now() % 1000) + 10)
      const { file } = await account.put('a', 1)
      const precondition = { ifUnmodifiedSince: lastModified(file) }
      await account.change('a', { visibility: 'users', precondition })
      await account.remove('a')
      await account.put('b', 2)
      const renamed = await account.change('b', { newName: 'a' })
      for (const write of [
        () => account.remove('a', { precondition }),
        () => account.change('a', { isKept: true, precondition }),
        () => account.begin('a', 3, { precondition }),
        async () => account.commit(await account.begin('a', 3), 3, { precondition }),
      ]) {
        expect(await outcomeOf(write())).toBe('precondition_failed')
      }
      await account.remove('a', { precondition: { ifUnmodifiedSince: lastModified(renamed) } })
    })
  })
}

const NAMES = ['a', 'b', 'cam-1', 'cam-2'] as const

/** How the clock moves before a step. */
const MOVES = [0, 0, 0, 1, 3, 400, 1000, 1500, 60_000, -1, -300, -1000, -1500, -60_000] as const

type Write =
  | { readonly kind: 'put'; readonly bytes: number; readonly isShort: boolean }
  | { readonly kind: 'evicting'; readonly bytes: number }
  | { readonly kind: 'remove' | 'keep' | 'touch' | 'sweep' }
  | { readonly kind: 'rename'; readonly newName: string }
  | { readonly kind: 'restore'; readonly past: number }
  | { readonly kind: 'batch'; readonly newName: string; readonly past: number }

interface Step {
  readonly moveMs: number
  readonly name: string
  readonly write: Write
}

const name = fc.constantFrom(...NAMES)
const bytes = fc.constantFrom(1, 2, 40)
const past = fc.nat({ max: 3 })
const kind = <K extends Write['kind']>(value: K) => fc.constant(value)

const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: kind('put'), bytes, isShort: fc.constant(false) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('put'), bytes, isShort: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('evicting'), bytes: fc.constant(60) }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('remove') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('keep') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('touch') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('sweep') }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('rename'), newName: name }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('restore'), past }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('batch'), newName: name, past }) },
)

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ moveMs: fc.constantFrom(...MOVES), name, write }),
  { minLength: 2, maxLength: 25, size: 'max' },
)

/** What clients have seen of an account. */
interface Seen {
  /** By name and date: the version. */
  readonly versions: Map<string, string>
  /** By name: `updatedAt`. */
  readonly dates: Map<string, number>
  newest: number
  changes: number
}

/** After each commit. */
async function look(world: World, seen: Seen): Promise<void> {
  const files = await world.account.list()
  for (const file of files) see(seen, file)
  const moved = files.filter((file) => seen.dates.get(file.name) !== file.updatedAt)
  const { changes = [] } = await feed(world, seen.changes)
  const times = [...moved.map(({ updatedAt }) => updatedAt), ...changes.map(({ at }) => at)]
  for (const time of times) expect(time).toBeGreaterThan(seen.newest)
  const [end] = await world.account.past({ limit: 1 })
  seen.newest = Math.max(seen.newest, ...times, end?.endedAt ?? 0)
  seen.changes += changes.length
  for (const file of files) seen.dates.set(file.name, file.updatedAt)
}

function see({ versions }: Seen, file: File): void {
  const key = `${file.name} at ${lastModified(file)}`
  const version = versions.get(key) ?? file.version
  expect(`${key}: ${file.version}`).toBe(`${key}: ${version}`)
  versions.set(key, version)
}

async function follow(harness: LedgerHarness, story: readonly Step[]): Promise<void> {
  const account = await openAccount(harness)
  const world = { harness, account }
  const seen: Seen = { versions: new Map(), dates: new Map(), newest: 0, changes: 0 }
  for (const step of story) {
    await harness.advance(step.moveMs)
    await perform(world, step)
    await look(world, seen)
  }
}

interface World {
  readonly harness: LedgerHarness
  readonly account: Account
}

async function perform(world: World, { name, write }: Step): Promise<void> {
  const { harness, account } = world
  switch (write.kind) {
    case 'put': {
      const expiresInMs = write.isShort ? 1 : undefined
      return void (await outcomeOf(account.put(name, write.bytes, { expiresInMs })))
    }
    case 'evicting': {
      const evict = parseFileNamePrefix('')
      const begun = account.begin(name, write.bytes, { evict })
      await outcomeOf(begun.then((version) => account.commit(version, write.bytes, { evict })))
      return
    }
    case 'remove':
      return void (await outcomeOf(account.remove(name)))
    case 'keep':
      return void (await outcomeOf(account.change(name, { expiresAt: NEVER, isKept: true })))
    case 'touch':
      return void (await outcomeOf(account.change(name, {})))
    case 'sweep': {
      const { userId } = account
      return void (await harness.ledger.expireFiles({ userId, limit: 100 }))
    }
    case 'rename':
      return void (await outcomeOf(
        account.change(name, { newName: write.newName, overwrite: true }),
      ))
    case 'restore': {
      const chosen = await pastOf(account, write.past)
      if (chosen !== undefined) await outcomeOf(account.restore(chosen, { name, overwrite: true }))
      return
    }
    case 'batch':
      return await performBatch(world, { name, ...write })
  }
}

async function pastOf(account: Account, index: number) {
  const versions = await account.past()
  return versions[index % Math.max(1, versions.length)]?.version
}

/** A rename there, a change and a restore over it, and a rename back. */
async function performBatch(
  { harness, account }: World,
  batch: { readonly name: string; readonly newName: string; readonly past: number },
): Promise<void> {
  const [name, newName] = [parseFileName(batch.name), parseFileName(batch.newName)]
  const chosen = await pastOf(account, batch.past)
  const lenient = { ignoresMissing: true, visibility: undefined, overwrite: true } as const
  const operations: FileOperation[] = [
    { op: 'update', name, newName, ...lenient },
    { op: 'update', name: newName, ...lenient, isKept: true },
  ]
  if (chosen !== undefined) operations.push({ op: 'restore', version: chosen, name, ...lenient })
  operations.push(
    { op: 'delete', name, ignoresMissing: true },
    { op: 'update', name: newName, newName: name, ...lenient },
  )
  const { userId, userCreatedAt } = account
  await outcomeOf(harness.ledger.changeFiles({ userId, userCreatedAt, operations }))
}

async function feed({ harness, account }: World, after = 0) {
  const { userId, userCreatedAt } = account
  const read = await harness.ledger.readChanges({ userId, userCreatedAt, after, limit: 1000 })
  return read ?? { latest: undefined, changes: undefined }
}
