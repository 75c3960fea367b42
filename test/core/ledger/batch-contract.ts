import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NOTHING } from '../../../src/core/auth/scope.ts'
import { NEVER } from '../../../src/core/files/file.ts'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import {
  type BatchOperation,
  type FileOperation,
  MAX_OPERATIONS,
} from '../../../src/core/files/operation.ts'
import { createVersion, type Version } from '../../../src/core/objects/object-key.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import {
  described,
  given,
  MAX_FILES,
  performAll,
  performBatch,
  picture,
  story,
  tell,
  type Told,
} from './batch-model.ts'
import {
  type Account,
  count,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  outcomeOf,
  race,
  refusalOf,
} from './fixture.ts'

/** The rules of `changeFiles`: several operations as one. */
export function ledgerBatchContract(
  name: string,
  open: (options: Partial<LedgerOptions>) => Promise<LedgerHarness>,
  runs: number,
): void {
  describe(`batches of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: LONG_MS, historyShare: 50, baseCapacity: 100 })
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    const batch = (operations: readonly BatchOperation[], maxFiles?: number) => {
      const { ledger } = maxFiles === undefined ? harness : harness.with({ limits: { maxFiles } })
      return ledger.changeFiles({ ...account, operations })
    }
    const names = async () => (await account.list()).map((file) => file.name)
    const changes = async () => {
      const read = await harness.ledger.readChanges({ ...account, after: 0, limit: 1000 })
      return (read?.changes ?? []).map((change) =>
        'file' in change ? `${change.type} ${change.file.name}` : change.type,
      )
    }

    it('do what their operations do one after the other, or nothing; only the end has to fit', async () => {
      const property = fc.asyncProperty(story, fc.boolean(), async (told, keepsHistory) => {
        const used = keepsHistory ? harness : forgetful
        const ledger = keepsHistory ? limited : limitedForgetful
        const [one, other] = [await openAccount(used), await openAccount(used)]
        const batched = await tell({ harness: used, account: one }, told)
        const single = await tell({ harness: used, account: other }, told)
        const limits = await one.usage()
        if (limits === undefined) throw new Error('There is no such user.')
        await other.grant('unlimited', 1_000_000)
        const before = await picture({ harness: used, told: batched })
        const expected = await performAll(single, { batch: told.batch, limits })
        const done = await performBatch(batched, { ledger, batch: told.batch })
        const after = await picture({ harness: used, told: batched })
        const shown = (all: ReturnType<typeof given>, { versions }: Told) =>
          all.map((each) =>
            typeof each === 'object'
              ? described(each, (version) => versions.indexOf(version as Version))
              : each,
          )
        const isRefused = 'code' in expected
        expect({ done: 'code' in done ? done : shown(given(done), batched), after }).toEqual({
          done: isRefused ? expected : shown(expected, single),
          after: isRefused ? before : await picture({ harness: used, told: single }),
        })
        expect(after.isSound).toBe(true)
        expect('code' in done ? limits : done.usage).toEqual(await one.usage())
      })
      const forgetful = await open({ baseCapacity: 100 })
      const limits = { maxFiles: MAX_FILES }
      const { ledger: limited } = harness.with({ limits })
      const { ledger: limitedForgetful } = forgetful.with({ limits })
      try {
        await fc.assert(property, { numRuns: runs })
      } finally {
        await forgetful.close()
      }
    })

    it('have the files of one save change places at once, at one time', async () => {
      for (const [each, size] of [
        ['a', 1],
        ['b', 2],
        ['tmp-c', 3],
      ] as const) {
        await account.put(each, size)
      }
      const { files, usage } = await batch([
        rename('a', 't'),
        rename('b', 'a'),
        rename('t', 'b'),
        rename('tmp-c', 'c', { visibility: 'public' }),
      ])
      expect((await account.list()).map(({ name: each, size }) => [each, size])).toEqual([
        ['a', 2],
        ['b', 1],
        ['c', 3],
      ])
      expect(new Set(files.map((file) => file?.updatedAt)).size).toBe(1)
      expect(files.at(-1)).toMatchObject({ name: 'c', visibility: 'public' })
      expect(usage).toMatchObject({ used: 6, fileCount: 3 })
    })

    it('are compared with the quota at their end, beside what is reserved', async () => {
      const { file: large } = await account.put('large', 60)
      await account.remove('large')
      await account.put('other', 50)
      const version = await account.begin('upload', 50)
      const both = [restore(large.version), remove('other')]
      expect(await refusalOf(batch(both))).toMatchObject({
        code: 'capacity_exceeded',
        facts: {
          capacity: 100,
          used: 50,
          reserved: 50,
          requested: 60,
          available: 0,
          operation: 0,
        },
      })
      await account.abort(version)
      expect(await batch(both)).toMatchObject({ usage: { used: 60, fileCount: 1 } })
      expect(await names()).toEqual(['large'])
      expect((await changes()).slice(-3)).toEqual([
        'file.created other',
        'file.restored large',
        'file.deleted other',
      ])
    })

    it('name the restore after which there are too many files', async () => {
      const versions: Version[] = []
      for (const each of ['a', 'b', 'c']) versions.push((await account.put(each, 1)).file.version)
      for (const each of ['a', 'b', 'c']) await account.remove(each)
      await account.put('d', 1)
      const [a, b, c] = versions.map((version) => restore(version))
      if (a === undefined || b === undefined || c === undefined) throw new Error('unreachable')
      const operations = [a, b, remove('d'), c, remove('none', { ignoresMissing: true })]
      expect(await refusalOf(batch(operations, 2))).toMatchObject({
        code: 'file_count_exceeded',
        facts: { file_count: 1, max_files: 2, operation: 3 },
      })
      expect(await names()).toEqual(['d'])
      expect(await outcomeOf(batch(operations, 3))).toBe('ok')
    })

    it('restore what they delete, and tell it as it went', async () => {
      const { file } = await account.put('a', 95)
      await batch([remove('a'), restore(file.version, 'b'), remove('b')])
      expect(await account.past()).toMatchObject([{ version: file.version, name: 'b' }])
      expect((await changes()).slice(1)).toEqual([
        'capacity.nearing',
        'file.deleted a',
        'file.restored b',
        'file.deleted b',
        'capacity.normal',
      ])
    })

    it('restore within the scope of a token, as a single restore', async () => {
      const { file } = await account.put('cam-1', 1, { visibility: 'public' })
      const { file: other } = await account.put('other', 1)
      await batch([remove('cam-1'), remove('other')])
      const scope = { ...NOTHING, prefix: parseFileNamePrefix('cam-') }
      const outcomes = [
        restore(file.version),
        restore(other.version),
        restore(createVersion()),
      ].map(async (each) => await outcomeOf(batch([{ ...each, scope }])))
      expect(await Promise.all(outcomes)).toEqual(['scope_insufficient', 'not_found', 'not_found'])
      const blind = { ...scope, actions: ['share'] } as const
      const refused = batch([{ ...restore(file.version), scope: blind }])
      expect(await outcomeOf(refused)).toBe('scope_insufficient')
      const sharing = { ...scope, actions: ['read', 'share'] } as const
      expect(await outcomeOf(batch([{ ...restore(file.version), scope: sharing }]))).toBe('ok')
      await harness.ledger.purgeVersion({ ...account, ...other })
      const gone = [restore(other.version), { ...restore(other.version), scope }]
      const codes = gone.map(async (each) => await outcomeOf(batch([each])))
      expect(await Promise.all(codes)).toEqual(['version_gone', 'not_found'])
    })

    it('change a thousand files with rows that are counted, and forget the oldest changes', async () => {
      await account.grant('more', 1_000_000)
      const all = Array.from({ length: MAX_OPERATIONS }, (_, index) => `f${index}`)
      // Few enough at once that none waits too long for its turn.
      for (let at = 0; at < all.length; at += 50)
        await Promise.all(all.slice(at, at + 50).map((each) => account.put(each, 1)))
      await harness.countChanges(account.userId, 200_000)
      const renames = all.map((each) => rename(each, `new-${each}`, { isKept: true }))
      expect((await batch(renames)).usage).toMatchObject({ used: 1000, fileCount: 1000 })
      expect(await harness.changeRows(account.userId)).toBe(1000)
      const swaps = all.map((_, index) =>
        rename(`new-f${index}`, `new-f${(index + 1) % 1000}`, { overwrite: true }),
      )
      expect((await batch(swaps)).usage).toMatchObject({ used: 1, fileCount: 1 })
      const [left] = await account.list()
      expect(left).toMatchObject({ name: 'new-f0', isKept: 1 })
      await harness.countChanges(account.userId, 400_000)
      const rows = await harness.changeRows(account.userId)
      await batch((await account.past()).map(({ version }) => restore(version)))
      // It forgets more than it adds, however many those are.
      expect(await harness.changeRows(account.userId)).toBe(rows - 1024)
      const { bytes, countedBytes, versions } = await harness.history(account.userId)
      expect([bytes, versions]).toEqual([countedBytes, 0])
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
      expect(await account.usage()).toMatchObject({ used: 1000, fileCount: 1000 })
    })

    it('batches of an inactive user are refused, whatever they ask, and not by an operation', async () => {
      await harness.users.setUserStatus(account.userId, 'suspended')
      for (const operation of [
        remove('none'),
        restore(createVersion()),
        remove('none', { ignoresMissing: true }),
      ]) {
        const refusal = await refusalOf(batch([operation]))
        expect(refusal).toMatchObject({ code: 'user_suspended', facts: {} })
      }
    })

    it('expire files, and take the name of one that has expired', async () => {
      await account.put('a', 1)
      await account.put('b', 2, { expiresInMs: 1 })
      await harness.advance(5)
      const past = harness.now() - 1
      const late = await refusalOf(
        batch([remove('none', { ignoresMissing: true }), update('a', { expiresAt: past })]),
      )
      expect(late).toMatchObject({ code: 'invalid_parameter', facts: { operation: 1 } })
      await batch([update('a', { expiresAt: NEVER }), rename('a', 'b')])
      expect(await account.list()).toMatchObject([{ name: 'b', size: 1 }])
      expect((await changes()).slice(-2)).toEqual(['file.expired b', 'file.renamed b'])
    })

    describe.each([
      ['one instance', () => harness.ledger],
      ['two instances', () => harness.other],
    ] as const)('on %s', (_, another) => {
      const send = (ledger: LedgerHarness['ledger'], operations: readonly FileOperation[]) =>
        ledger.changeFiles({ ...account, operations })

      it('meet as a whole: one of two that need the same files wins all of them', async () => {
        for (let round = 0; round < 16; round++) {
          for (const each of ['a', 'b', 'c']) await account.put(each, 1)
          const move = (to: string, from: readonly string[]) =>
            from.map((each) => rename(each, `${to}-${each}`))
          const outcomes = await race(round, {
            one: () => outcomeOf(send(harness.ledger, move('x', ['a', 'b', 'c']))),
            another: () => outcomeOf(send(another(), move('y', ['c', 'b', 'a']))),
          })
          expect(outcomes.toSorted()).toEqual(['not_found', 'ok'])
          const left = await names()
          expect(new Set(left.map((each) => each.slice(0, 2))).size).toBe(1)
          await batch(left.map((each) => remove(each)))
        }
      })

      it('a batch and a commit end as one after the other would, within the capacity', async () => {
        const wins: string[] = []
        const { file } = await account.put('past', 60)
        for (let round = 0; round < 16; round++) {
          await batch([remove('past'), remove('new', { ignoresMissing: true })])
          const version = await account.begin('new', 0)
          const outcomes = await race(round, {
            one: () => outcomeOf(send(harness.ledger, [restore(file.version)])),
            another: () => outcomeOf(account.through(another()).commit(version, 60)),
          })
          expect(count(outcomes, 'ok')).toBe(1)
          expect(count(outcomes, 'capacity_exceeded')).toBe(1)
          wins.push(outcomes[0])
          expect(await account.usage()).toMatchObject({ used: 60, fileCount: 1 })
          if (outcomes[0] !== 'ok') await batch([restore(file.version), remove('new')])
        }
        expect(new Set(wins).size).toBe(2)
      })
    })
  })
}

interface Terms {
  readonly ignoresMissing?: boolean
}

function remove(name: string, terms: Terms = {}): FileOperation {
  return { op: 'delete', name: parseFileName(name), ...terms }
}

type Update = Partial<Extract<FileOperation, { readonly op: 'update' }>>

function update(name: string, change: Update): FileOperation {
  const same = { newName: undefined, visibility: undefined, overwrite: false }
  return { op: 'update', ...same, ...change, name: parseFileName(name) }
}

function rename(name: string, newName: string, change: Update = {}): FileOperation {
  return update(name, { ...change, newName: parseFileName(newName) })
}

type Restore = Extract<FileOperation, { readonly op: 'restore' }>

function restore(version: Version, name?: string): Restore {
  const text = name === undefined ? undefined : parseFileName(name)
  return { op: 'restore', version, name: text, overwrite: false }
}
