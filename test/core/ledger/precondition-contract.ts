import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Precondition } from '../../../src/core/files/precondition.ts'
import { type Account, type LedgerHarness, openAccount, outcomeOf } from './fixture.ts'

const CREATE_ONLY: Precondition = { ifNoneMatch: '*' }

/** The rules of preconditions in the port `Ledger`, one call at a time. */
export function ledgerPreconditionContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`preconditions in the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    /** What it can be rejected with, and that it changes nothing then. */
    const expectRefused = async (operation: () => Promise<unknown>, code: string) => {
      const before = [await account.usage(), await account.list()]
      expect(await outcomeOf(operation())).toBe(code)
      expect([await account.usage(), await account.list()]).toEqual(before)
      expect((await harness.keys(account.userId)).garbage).toEqual([])
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
    }

    it('let every write of the version that they name', async () => {
      const { file } = await account.put('a', 10)
      const precondition = { ifMatch: [file.version] }
      const changed = await account.change('a', { visibility: 'users', precondition })
      expect(changed.version).toBe(file.version)
      const version = await account.begin('a', 20, { precondition })
      const second = await account.commit(version, 20, { precondition })
      expect(second.replaced).toBe(true)
      await account.remove('a', { precondition: { ifMatch: [second.file.version] } })
      expect(await account.usage()).toMatchObject({ used: 0, fileCount: 0 })
    })

    it('refuse every write of another version', async () => {
      const old = await account.put('a', 10)
      const { file } = await account.put('b', 20)
      const pending = await account.begin('a', 5)
      for (const precondition of [
        { ifMatch: [file.version] },
        { ifNoneMatch: [old.file.version] },
        CREATE_ONLY,
        { ifUnmodifiedSince: old.file.updatedAt - 1000 },
      ]) {
        const options = { precondition }
        for (const operation of [
          () => account.begin('a', 5, options),
          () => account.commit(pending, 5, options),
          () => account.remove('a', options),
          () => account.change('a', { newName: 'c', ...options }),
        ]) {
          await expectRefused(operation, 'precondition_failed')
        }
      }
    })

    it('come before the name that is taken, the number of files and the capacity', async () => {
      await account.put('a', 60)
      await account.put('b', 1)
      const options = { precondition: { ifMatch: ['another'] } }
      await expectRefused(() => account.change('a', { newName: 'b', ...options }), CODE)
      await expectRefused(() => account.begin('a', 999, options), CODE)
      const full = account.through(harness.with({ limits: { maxFiles: 0 } }).ledger)
      await expectRefused(() => full.begin('c', 999, options), CODE)
      const pending = await account.begin('c', 1)
      await expectRefused(() => full.commit(pending, 999, options), CODE)
    })

    it('come after what the user may do at all, at every write', async () => {
      const { file } = await account.put('a', 10)
      const pending = await account.begin('a', 10)
      const options = { precondition: CREATE_ONLY }
      await harness.users.setUserStatus(account.userId, 'suspended')
      expect(await outcomeOf(account.begin('a', 1, options))).toBe('user_suspended')
      expect(await outcomeOf(account.commit(pending, 10, options))).toBe('user_suspended')
      expect(await outcomeOf(account.remove('a', options))).toBe('user_suspended')
      await harness.users.deleteUser(account.userId)
      expect(await outcomeOf(account.begin('a', 1, options))).toBe('access_token_invalid')
      expect(await outcomeOf(account.commit(pending, 10, options))).toBe('access_token_invalid')
      const matching = { precondition: { ifMatch: [file.version] } }
      expect(await outcomeOf(account.remove('a', matching))).toBe('access_token_invalid')
    })

    describe('decided again at the commit', () => {
      it.each([
        ['was replaced', () => account.put('a', 20)],
        ['was removed', () => account.remove('a')],
        ['was renamed', () => account.change('a', { newName: 'b' })],
        [
          'was replaced by a rename',
          async () => {
            await account.put('b', 5)
            await account.change('b', { newName: 'a', overwrite: true })
          },
        ],
      ])(
        'a file that %s before the commit fails it: nothing changes, the upload can still be aborted',
        async (_, meddle) => {
          const { file } = await account.put('a', 10)
          const precondition = { ifMatch: [file.version] }
          const version = await account.begin('a', 30, { precondition })
          await meddle()
          const before = [await account.usage(), await account.list()]
          expect(await outcomeOf(account.commit(version, 30, { precondition }))).toBe(CODE)
          expect([await account.usage(), await account.list()]).toEqual(before)
          expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
          expect(await account.abort(version)).toBe('aborted')
          expect(await account.usage()).toMatchObject({ reserved: 0 })
        },
      )

      it('a file that has gone and come back as it was demanded does not fail the commit', async () => {
        const { file } = await account.put('a', 10)
        const precondition = { ifMatch: [file.version] }
        const version = await account.begin('a', 30, { precondition })
        await account.change('a', { newName: 'b' })
        await account.change('b', { newName: 'a' })
        expect((await account.commit(version, 30, { precondition })).replaced).toBe(true)
      })
    })
  })
}

const CODE = 'precondition_failed'
