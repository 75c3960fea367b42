import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callerOf } from '../../../src/core/users/caller.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { Precondition } from '../../../src/core/files/precondition.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import {
  type Account,
  accountOf,
  BASE_CAPACITY,
  type LedgerHarness,
  openAccount,
  outcomeOf,
} from './fixture.ts'

/** Of two users who had the same id one after the other, neither is taken for the other. */
export function ledgerIdentityContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`the next user of the same id in the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let former: Account
    let next: Account
    let preconditions: readonly (Precondition | undefined)[]

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      former = await openAccount(harness)
      await former.put('a', 10)
      await remove(former)
      await harness.advance(1)
      const { user, created } = await harness.users.createUser(former.userId)
      expect(created).toBe(true)
      next = accountOf({ ...harness, ...callerOf(user) })
      const { file } = await next.put('a', 10)
      await next.put('b', 20)
      preconditions = [
        undefined,
        { ifMatch: [file.version] },
        { ifMatch: ['another'] },
        { ifMatch: '*' },
        { ifNoneMatch: '*' },
      ]
    })

    async function remove({ userId }: Account): Promise<void> {
      await harness.users.deleteUser(userId)
      const purge = { limit: 10 }
      while ((await harness.ledger.purgeDeletedUsers(purge)) > 0);
    }

    const everything = async () => ({
      files: await next.list(),
      usage: await next.usage(),
      keys: await harness.keys(next.userId),
      journal: await harness.journal(next.userId),
    })

    it('refuses to begin for the user before, whatever is demanded and however large', async () => {
      const before = await everything()
      for (const precondition of preconditions) {
        for (const name of ['a', 'c']) {
          for (const bytes of [0, 1, BASE_CAPACITY + 1]) {
            const begun = former.begin(name, bytes, { precondition })
            expect(await outcomeOf(begun)).toBe('access_token_invalid')
          }
        }
      }
      for (const limits of [{ maxFiles: 0 }, { maxUploads: 0 }]) {
        const full = former.through(harness.with({ limits }).ledger)
        expect(await outcomeOf(full.begin('c', 1))).toBe('access_token_invalid')
      }
      expect(await everything()).toEqual(before)
    })

    it('refuses to remove and to change for the user before', async () => {
      const before = await everything()
      for (const precondition of preconditions) {
        for (const name of ['a', 'missing']) {
          const removed = former.remove(name, { precondition })
          expect(await outcomeOf(removed)).toBe('access_token_invalid')
          for (const change of [{ newName: 'c' }, { newName: 'b' }, { visibility: 'public' }]) {
            for (const overwrite of [false, true]) {
              const all = { ...change, overwrite, precondition } as Parameters<Account['change']>[1]
              expect(await outcomeOf(former.change(name, all))).toBe('access_token_invalid')
            }
          }
        }
      }
      expect(await everything()).toEqual(before)
    })

    it('refuses to extend and to commit what was purged with the user before', async () => {
      const before = await everything()
      const forgotten = createVersion()
      expect(await outcomeOf(former.extend(forgotten, 20))).toBe('access_token_invalid')
      expect(await outcomeOf(former.commit(forgotten, 1))).toBe('access_token_invalid')
      expect(await everything()).toEqual(before)
    })

    it('refuses to commit for the user before what the next one has begun', async () => {
      const version = await next.begin('c', 5)
      const before = await everything()
      for (const precondition of [undefined, { ifMatch: '*' }] as const) {
        const committed = former.commit(version, 5, { precondition })
        expect(await outcomeOf(committed)).toBe('access_token_invalid')
      }
      expect(await everything()).toEqual(before)
      await next.commit(version, 5)
    })

    it('does not come about while an upload of the user before is in the journal', async () => {
      const version = await next.begin('c', 5)
      await remove(next)
      const made = harness.users.createUser(next.userId)
      expect(await outcomeOf(made)).toBe('user_exists')
      expect(await outcomeOf(next.commit(version, 5))).toBe('access_token_invalid')
    })

    it('is not seen with the creation of the user before', async () => {
      const { ledger } = harness
      const file = { userId: next.userId, name: parseFileName('a'), audience: 'owner' } as const
      const asked = [former.userCreatedAt, next.userCreatedAt, undefined].map((userCreatedAt) =>
        ledger.findFile({ ...file, userCreatedAt }),
      )
      const sizes = (await Promise.all(asked)).map((found) => found?.size)
      expect(sizes).toEqual([undefined, 10, 10])
      expect(await former.list({ userCreatedAt: former.userCreatedAt })).toEqual([])
      expect(await next.list({ userCreatedAt: next.userCreatedAt })).toHaveLength(2)
      const { userId } = next
      expect(await ledger.reportCapacity(userId, former.userCreatedAt)).toBeUndefined()
      expect(await ledger.reportCapacity(userId, next.userCreatedAt)).toMatchObject({
        usage: { used: 30 },
      })
    })
  })
}
