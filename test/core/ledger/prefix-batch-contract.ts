import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import {
  type BatchOperation,
  MAX_MATCHED,
  type PrefixOperation,
} from '../../../src/core/files/operation.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import { type Account, type LedgerHarness, LONG_MS, openAccount, refusalOf } from './fixture.ts'

/** The rules of `changeFiles` for operations by prefix; `batch-contract.ts` compares them with single ones. */
export function ledgerPrefixBatchContract(
  name: string,
  open: (options: Partial<LedgerOptions>) => Promise<LedgerHarness>,
): void {
  describe(`operations by prefix of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: LONG_MS, historyShare: 50, baseCapacity: 20_000 })
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    const batch = (...operations: readonly BatchOperation[]) =>
      harness.ledger.changeFiles({ ...account, operations })
    const put = async (...names: readonly string[]) => {
      for (const [at, each] of names.entries()) await account.put(each, at + 1)
    }
    const sizes = async () =>
      Object.fromEntries((await account.list()).map(({ name: each, size }) => [each, size]))
    const isSound = async () => {
      const { bytes, countedBytes, versions, countedVersions } = await harness.history(
        account.userId,
      )
      expect([bytes, versions]).toEqual([countedBytes, countedVersions])
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
    }

    it('rename a folder into one below it, and back: no file twice, and none over another', async () => {
      await put('a-', 'a-x', 'a-b-x', 'a-b-b-x', 'b-')
      const { matched, files } = await batch(rename('a-', 'a-b-'))
      expect([matched, files]).toEqual([[4], [undefined]])
      const below = { 'a-b-': 1, 'a-b-x': 2, 'a-b-b-x': 3, 'a-b-b-b-x': 4, 'b-': 5 }
      expect(await sizes()).toEqual(below)
      await batch(rename('a-b-', 'a-'))
      expect(await sizes()).toEqual({ 'a-': 1, 'a-x': 2, 'a-b-x': 3, 'a-b-b-x': 4, 'b-': 5 })
      await batch(rename('', 'all-'), rename('all-', ''))
      expect(await sizes()).toEqual({ 'a-': 1, 'a-x': 2, 'a-b-x': 3, 'a-b-b-x': 4, 'b-': 5 })
      expect(await account.past()).toEqual([])
      await isSound()
    })

    it('see what earlier operations of the batch have left, and are seen by later ones', async () => {
      await put('a-1', 'a-2', 'other', 'b-2', 'c-1')
      const { matched } = await batch(
        { op: 'delete', name: parseFileName('a-2') },
        single('other', 'a-3'),
        rename('a-', 'b-'),
        rename('b-', 'd-'),
        remove('c-'),
        remove('c-', { ignoresMissing: true }),
        single('d-3', 'e'),
      )
      expect(matched).toEqual([undefined, undefined, 2, 3, 1, 0, undefined])
      expect(await sizes()).toEqual({ 'd-1': 1, 'd-2': 4, e: 3 })
      await isSound()
    })

    it('name the file that is in the way, or make it history', async () => {
      await put('a-1', 'a-2', 'b-2')
      const refused = await refusalOf(batch(remove('none', LENIENT), rename('a-', 'b-')))
      expect(refused).toMatchObject({
        code: 'file_exists',
        facts: { operation: 1, name: 'b-2' },
      })
      expect(await sizes()).toEqual({ 'a-1': 1, 'a-2': 2, 'b-2': 3 })
      await batch(rename('a-', 'b-', { overwrite: true }))
      expect(await sizes()).toEqual({ 'b-1': 1, 'b-2': 2 })
      expect(await account.past()).toMatchObject([{ name: 'b-2', size: 3, endedAs: 'deleted' }])
      await batch(remove('b-'))
      expect(await account.past()).toHaveLength(3)
      await isSound()
    })

    it('refuse a new name that is none, and name it', async () => {
      const long = `a-${'x'.repeat(250)}`
      await put('a-', long)
      const tooLong = rename('a-', 'longer-')
      expect(await refusalOf(batch(tooLong))).toMatchObject({
        code: 'invalid_file_name',
        facts: { operation: 0, name: `longer-${'x'.repeat(250)}` },
      })
      const empty = rename('a-', '')
      expect(await refusalOf(batch(remove('b', LENIENT), empty))).toMatchObject({
        code: 'invalid_file_name',
        facts: { operation: 1, name: '' },
      })
      expect(await sizes()).toEqual({ 'a-': 1, [long]: 2 })
    })

    it('match names byte by byte, of files that have not expired', async () => {
      const names = ['a%', 'a_1', 'A_1', 'ab1', '\u{ffff}', '\u{ffff}\u{10ffff}', '\u{10000}']
      await put(...names)
      await account.put('a_2', 1, { expiresInMs: 1 })
      await account.put('x_1', 1, { expiresInMs: 1 })
      await harness.advance(5)
      expect((await batch(rename('a_', 'x_'), rename('\u{ffff}', 'y'))).matched).toEqual([1, 2])
      const left = ['A_1', 'a%', 'ab1', 'x_1', 'y', 'y\u{10ffff}', '\u{10000}']
      expect((await account.list()).map((file) => file.name)).toEqual(left)
      expect(await refusalOf(batch(remove('a_')))).toMatchObject({ code: 'not_found' })
      await isSound()
    })

    it('leave as they are names that stay the same', async () => {
      await put('a-1', 'a-2')
      const changes = async () => {
        const read = await harness.ledger.readChanges({ ...account, after: 0, limit: 100 })
        return read?.changes.length
      }
      const before = await changes()
      expect((await batch(rename('a-', 'a-'))).matched).toEqual([2])
      expect([await sizes(), await changes()]).toEqual([{ 'a-1': 1, 'a-2': 2 }, before])
    })

    it('count as many as they match: with the single ones, a thousand', async () => {
      await harness.addFiles(account.userId, { prefix: 'a-', count: 1_200, since: 1 })
      await put('b-1', 'b-2')
      const many = (matched: number, operation: number) => ({
        code: 'invalid_parameter',
        facts: { parameter: 'operations', matched, operation },
      })
      const [ten, all] = [remove('a-0000'), remove('a-')]
      expect(await refusalOf(batch(all))).toMatchObject(many(1_200, 0))
      expect(await refusalOf(batch(ten, all))).toMatchObject(many(1_191, 1))
      expect(await refusalOf(batch(single('b-1', 'a-'), all))).toMatchObject(many(1_201, 1))
      expect(await refusalOf(batch(rename('', 'c-')))).toMatchObject(many(1_202, 0))
      await batch(remove('a-000'), remove('a-0010'), remove('a-0011'), remove('a-0012'))
      const left = [remove('a-010'), single('b-1', 'a-'), single('b-2', 'b-3'), remove('a-00')]
      expect(await refusalOf(batch(...left, remove('a-011')))).toMatchObject(many(100, 4))
      expect((await batch(...left)).matched).toEqual([100, undefined, undefined, 870])
      expect((await account.list({ prefix: 'a-' })).length).toBe(102)
      await harness.addFiles(account.userId, { prefix: 'e-', count: 1_000, since: 1 })
      const thousand = remove('e-')
      expect(await refusalOf(batch(thousand, single('b-3', 'b-4')))).toMatchObject(many(1_000, 0))
      expect((await batch(thousand)).matched).toEqual([1_000])
      await isSound()
    })

    it('read a bounded number of rows, also of files that have expired', async () => {
      await harness.addFiles(account.userId, { prefix: 'a-', count: MAX_MATCHED + 1, since: 1 })
      const most = { code: 'invalid_parameter', facts: { matched: MAX_MATCHED } }
      expect(await refusalOf(batch(remove('a-')))).toMatchObject(most)
      await harness.expireFiles(account.userId, 'a-')
      await put('a-x')
      const refused = await refusalOf(batch(rename('a-', 'b-')))
      expect(refused).toMatchObject({ code: 'invalid_parameter', facts: { matched: 0 } })
      expect((await batch(remove('a-00', LENIENT), remove('a-x'))).matched).toEqual([0, 1])
    })
  })
}

const LENIENT = { ignoresMissing: true }

function remove(
  prefix: string,
  terms: { readonly ignoresMissing?: boolean } = {},
): PrefixOperation {
  return { op: 'delete-prefix', prefix: parseFileNamePrefix(prefix), ...terms }
}

function rename(
  prefix: string,
  newPrefix: string,
  terms: { readonly overwrite?: boolean } = {},
): PrefixOperation {
  const prefixes = {
    prefix: parseFileNamePrefix(prefix),
    newPrefix: parseFileNamePrefix(newPrefix),
  }
  return { op: 'rename-prefix', ...prefixes, overwrite: false, ...terms }
}

function single(name: string, newName: string): BatchOperation {
  const names = { name: parseFileName(name), newName: parseFileName(newName) }
  return { op: 'update', ...names, visibility: undefined, overwrite: false }
}
