import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FindFile, SelectedFiles } from '../../../src/core/files/file-ledger.ts'
import {
  EVERY_NAME,
  parseFileName,
  parseFileNamePrefix,
} from '../../../src/core/files/file-name.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import {
  type Account,
  accountOf,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  outcomeOf,
} from './fixture.ts'

/** Other than that of the harness. */
const GARBAGE_DELAY_MS = 70_000
const GARBAGE_DELAY = { times: { garbageDelayMs: GARBAGE_DELAY_MS } } as const

/** The rules of `deleteFile` and `updateFile`, one call at a time. */
export function ledgerFilesContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`files in the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    const sums = async (): Promise<void> => {
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
    }
    const names = async (): Promise<string[]> => (await account.list()).map(({ name }) => name)
    /** That `key` alone is garbage, from `delay` after now on. */
    const expectGarbage = async (key: string, delay: number): Promise<void> => {
      const { garbage, referenced } = await harness.keys(account.userId)
      expect(garbage.map((each) => each.key)).toEqual([key])
      expect(referenced).not.toContain(key)
      const lateness = harness.now() + delay - (garbage[0]?.notBefore ?? 0)
      expect(Math.abs(lateness)).toBeLessThan(5_000)
    }

    it('selects current files by prefix or by name, also of a suspended user', async () => {
      const { userId, userCreatedAt } = account
      for (const [at, name] of ['b', 'a-2', 'a-1', '\u{10ffff}'].entries())
        await account.put(name, at)
      await account.put('a-gone', 1, { expiresInMs: 1 })
      await (await openAccount(harness)).put('a-other', 1)
      await harness.advance(2)
      const select = async (selected: SelectedFiles, limit = 10) => {
        const wanted = { userId, userCreatedAt, selected, limit }
        return (await harness.ledger.selectFiles(wanted)).map(({ name }) => name)
      }
      const named = (...names: string[]) => ({ names: names.map(parseFileName) })
      const a = { prefix: parseFileNamePrefix('a') }
      await harness.users.setUserStatus(userId, 'suspended')
      expect(await select(a)).toEqual(['a-1', 'a-2'])
      expect(await select({ prefix: EVERY_NAME })).toEqual(['a-1', 'a-2', 'b', '\u{10ffff}'])
      expect(await select(named('b', 'a-gone', 'a-other', 'a-1', 'none'))).toEqual(['a-1', 'b'])
      expect(await select(named())).toEqual([])
      // It reads no more than the limit: whoever gets as many knows no more.
      expect(await select(a, 3)).toHaveLength(3)
      expect(await select(a, 2)).toEqual(['a-1', 'a-2'])
      const another = { userId, userCreatedAt: userCreatedAt + 1, selected: a, limit: 10 }
      expect(await harness.ledger.selectFiles(another)).toEqual([])
      const [first] = await harness.ledger.selectFiles({
        userId,
        userCreatedAt,
        selected: a,
        limit: 10,
      })
      expect(Object.keys(first ?? {})).toEqual(['name', 'objectKey', 'size', 'crc32', 'updatedAt'])
      await harness.users.deleteUser(userId)
      expect(await select(a)).toEqual([])
    })

    it('finds many at once as it finds each', async () => {
      const { userId } = account
      const other = await openAccount(harness)
      const { file: own } = await account.put('private', 10, { visibility: 'private' })
      const { file: shared } = await account.put('users', 20, { visibility: 'users' })
      const { file: open } = await account.put('public', 30, { visibility: 'public' })
      const { file: others } = await other.put('private', 40, { visibility: 'private' })
      const gone = await openAccount(harness)
      const { file: hidden } = await gone.put('public', 50, { visibility: 'public' })
      await harness.users.setUserStatus(gone.userId, 'suspended')
      const wanted: FindFile[] = []
      for (const file of [own, others, shared, open, hidden, { ...own, userId: other.userId }]) {
        for (const audience of ['owner', 'users', 'anyone'] as const)
          wanted.push({ ...file, audience })
      }
      const found = await Promise.all(wanted.map((file) => harness.ledger.findFile(file)))
      const none = undefined
      expect(found).toEqual([
        own,
        none,
        none,
        others,
        none,
        none,
        shared,
        shared,
        none,
        open,
        open,
        open,
        none,
        none,
        none,
        others,
        none,
        none,
      ])
      expect(await harness.ledger.findFile({ ...own, userId, audience: 'owner' })).toEqual(own)
    })

    describe('deleteFile', () => {
      it('takes the file away, frees its bytes and makes its object garbage', async () => {
        const { file } = await account.put('a', 60)
        await account.put('b', 30)
        await account.begin('c', 5)
        await account.through(harness.with(GARBAGE_DELAY).ledger).remove('a')
        expect(await account.size('a')).toBeUndefined()
        expect(await account.usage()).toMatchObject({ used: 30, reserved: 5, fileCount: 1 })
        await expectGarbage(file.objectKey, GARBAGE_DELAY_MS)
        await sums()
      })

      it('answers not_found of what is not there, and when repeated', async () => {
        await account.put('a', 10)
        expect(await outcomeOf(account.remove('b'))).toBe('not_found')
        expect(await outcomeOf(account.remove('A'))).toBe('not_found')
        await account.remove('a')
        expect(await outcomeOf(account.remove('a'))).toBe('not_found')
        expect(await account.usage()).toMatchObject({ used: 0, fileCount: 0 })
      })

      it('makes room, also in a repository above its capacity', async () => {
        await account.grant('gift', 50)
        await account.put('a', 70)
        await account.put('b', 80)
        await account.grant('gift', 0)
        await account.remove('a')
        expect(await account.usage()).toMatchObject({ capacity: 100, used: 80 })
        await account.put('c', 20)
      })

      it('D10 while an overwrite is pending: the commit makes a new file, charged whole', async () => {
        const old = await account.put('a', 80, { visibility: 'public' })
        const version = await account.begin('a', 90)
        await account.remove('a')
        expect(await account.usage()).toMatchObject({ used: 0, reserved: 10, fileCount: 0 })
        await harness.advance(5)
        const { file, replaced } = await account.commit(version, 90)
        expect(replaced).toBe(false)
        expect(file.visibility).toBe('private')
        expect(file.createdAt).toBe(file.updatedAt)
        expect(await account.usage()).toMatchObject({ used: 90, reserved: 0, fileCount: 1 })
        await expectGarbage(old.file.objectKey, LONG_MS)
        await sums()
      })

      it('D10 while an overwrite is pending: what others took meanwhile refuses the commit', async () => {
        await account.put('a', 80)
        const version = await account.begin('a', 90)
        await account.remove('a')
        await account.put('b', 11)
        expect(await outcomeOf(account.commit(version, 90))).toBe('capacity_exceeded')
        expect(await account.abort(version)).toBe('aborted')
        expect(await account.usage()).toMatchObject({ used: 11, reserved: 0, fileCount: 1 })
        await sums()
      })

      it('forgets nothing of the upload: its commit, repeated, answers as before', async () => {
        const version = await account.begin('a', 10)
        const first = await account.commit(version, 10)
        await account.remove('a')
        expect((await account.commit(version, 10)).file).toEqual(first.file)
        expect(await account.abort(version)).toBe('committed')
        expect(await account.usage()).toMatchObject({ used: 0, fileCount: 0 })
      })
    })

    describe('updateFile', () => {
      it('renames: all but name and time of change stays', async () => {
        const { file } = await account.put('a', 60, { visibility: 'users' })
        await harness.advance(5)
        const changed = await account.change('a', { newName: 'b' })
        expect(changed.updatedAt).toBeGreaterThan(file.updatedAt)
        const { updatedAt, modifiedAt } = changed
        expect(changed).toEqual({ ...file, name: 'b', updatedAt, modifiedAt })
        expect(await account.list()).toEqual([changed])
        expect(await account.usage()).toMatchObject({ used: 60, reserved: 0, fileCount: 1 })
        expect((await harness.keys(account.userId)).garbage).toEqual([])
        await sums()
      })

      it.each([false, true])('renames onto itself with overwrite %s', async (overwrite) => {
        const { file } = await account.put('a', 60)
        await harness.advance(5)
        const changed = await account.change('a', { newName: 'a', overwrite })
        expect(changed).toEqual(file)
        expect(await account.usage()).toMatchObject({ used: 60, fileCount: 1 })
        expect((await harness.keys(account.userId)).garbage).toEqual([])
        await sums()
      })

      it('onto an existing name replaces that file when told to', async () => {
        const a = await account.put('a', 60)
        const b = await account.put('b', 30, { visibility: 'public' })
        const delayed = account.through(harness.with(GARBAGE_DELAY).ledger)
        const changed = await delayed.change('a', { newName: 'b', overwrite: true })
        const { updatedAt, modifiedAt } = changed
        expect(changed).toEqual({ ...a.file, name: 'b', updatedAt, modifiedAt })
        expect(await account.list()).toEqual([changed])
        expect(await account.usage()).toMatchObject({ used: 60, reserved: 0, fileCount: 1 })
        await expectGarbage(b.file.objectKey, GARBAGE_DELAY_MS)
        await sums()
      })

      it('frees the old name for a new file of its own', async () => {
        const first = await account.put('a', 10)
        await account.change('a', { newName: 'b' })
        const { file, replaced } = await account.put('a', 20)
        expect(replaced).toBe(false)
        expect(file.version).not.toBe(first.file.version)
        expect(await names()).toEqual(['a', 'b'])
        expect(await account.usage()).toMatchObject({ used: 30, fileCount: 2 })
      })

      it('a rename while an overwrite of the old name is pending: the commit is charged whole', async () => {
        await account.put('a', 50)
        const version = await account.begin('a', 60)
        await account.change('a', { newName: 'b' })
        expect(await outcomeOf(account.commit(version, 51))).toBe('capacity_exceeded')
        const { replaced } = await account.commit(version, 50)
        expect(replaced).toBe(false)
        expect(await account.usage()).toMatchObject({ used: 100, reserved: 0, fileCount: 2 })
        await sums()
      })

      it('a rename while an upload of the new name is pending: the commit replaces the renamed file', async () => {
        const renamed = await account.put('a', 50)
        const version = await account.begin('b', 40)
        await account.change('a', { newName: 'b' })
        const { file, replaced } = await account.commit(version, 40)
        expect(replaced).toBe(true)
        expect(file.createdAt).toBe(renamed.file.createdAt)
        expect(await account.usage()).toMatchObject({ used: 40, reserved: 0, fileCount: 1 })
        await expectGarbage(renamed.file.objectKey, LONG_MS)
        await sums()
      })

      it('does not bring its own name back when the commit that made the file is repeated', async () => {
        const version = await account.begin('a', 10)
        const first = await account.commit(version, 10)
        await account.change('a', { newName: 'b' })
        expect((await account.commit(version, 10)).file).toEqual(first.file)
        expect(await account.abort(version)).toBe('committed')
        expect(await names()).toEqual(['b'])
      })
    })

    describe('a user that is', () => {
      it('suspended changes nothing, and hears that before anything else', async () => {
        const { file } = await account.put('a', 10)
        await account.put('b', 10)
        await harness.users.setUserStatus(account.userId, 'suspended')
        await expectRefused('user_suspended')
        expect(await account.list()).toEqual([])
        await harness.users.setUserStatus(account.userId, 'active')
        expect(await harness.ledger.findFile({ ...file, audience: 'owner' })).toEqual(file)
        expect(await account.usage()).toMatchObject({ used: 20, fileCount: 2 })
      })

      it('deleted hears that the token stands for nobody, before and after the purge', async () => {
        await account.put('a', 10)
        await account.put('b', 10)
        await harness.users.deleteUser(account.userId)
        await expectRefused('access_token_invalid')
        expect(await account.list()).toEqual([])
        const purge = { limit: 10 }
        while ((await harness.ledger.purgeDeletedUsers(purge)) > 0);
        await expectRefused('access_token_invalid')
        expect((await harness.keys(account.userId)).garbage).toHaveLength(2)
      })

      it('unknown hears the same', async () => {
        account = accountOf({ ...harness, userId: parseUserId('nobody'), userCreatedAt: 0 })
        await expectRefused('access_token_invalid')
        expect(await account.list()).toEqual([])
      })
    })

    async function expectRefused(code: string): Promise<void> {
      const precondition = { ifMatch: ['no-such-version'] }
      const { garbage } = await harness.keys(account.userId)
      for (const name of ['a', 'missing']) {
        expect(await outcomeOf(account.remove(name))).toBe(code)
        expect(await outcomeOf(account.remove(name, { precondition }))).toBe(code)
        for (const change of [{}, { precondition }, { newName: 'b' }, { newName: 'c' }]) {
          expect(await outcomeOf(account.change(name, change))).toBe(code)
        }
        const onto = { newName: 'b', overwrite: true }
        expect(await outcomeOf(account.change(name, onto))).toBe(code)
      }
      expect((await harness.keys(account.userId)).garbage).toEqual(garbage)
    }
  })
}
