import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_BYTES } from '../../../src/core/byte-size.ts'
import { parseUserId, parseUserIdPrefix } from '../../../src/core/users/user-id.ts'
import {
  type Account,
  BASE_CAPACITY,
  grantOf,
  type LedgerHarness,
  openAccount,
} from '../ledger/fixture.ts'

/** The rules of the port `AccountLedger`, and of pages of grants. */
export function accountsContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`accounts on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    it('a user comes with the figures of the moment', async () => {
      const { userId } = account
      await account.grant('gift', 50)
      await account.put('a', 60)
      await account.begin('b', 5)
      expect(await harness.ledger.findAccount(userId)).toEqual({
        user: await harness.users.findUser(userId),
        usage: { capacity: BASE_CAPACITY + 50, used: 60, reserved: 5, fileCount: 1 },
      })
    })

    it('an unknown user is not found', async () => {
      const userId = parseUserId('nobody')
      expect(await harness.ledger.findAccount(userId)).toBeUndefined()
      expect(await harness.ledger.reportCapacity(userId)).toBeUndefined()
    })

    it('a deleted user is shown with what is left to purge, but has no capacity to report', async () => {
      const { userId } = account
      await account.put('a', 60)
      await account.put('b', 7)
      await harness.users.deleteUser(userId)
      const found = () => harness.ledger.findAccount(userId)
      expect(await found()).toMatchObject({
        user: { status: 'deleted' },
        usage: { used: 67, fileCount: 2 },
      })
      expect(await harness.ledger.reportCapacity(userId)).toBeUndefined()
      const purge = { limit: 1 }
      await harness.ledger.purgeDeletedUsers(purge)
      expect(await found()).toMatchObject({ usage: { used: 7, fileCount: 1 } })
      while ((await harness.ledger.purgeDeletedUsers(purge)) > 0);
      expect(await found()).toBeUndefined()
    })

    it('users are listed by id, bytewise, in pages, each with its own figures, deleted ones too', async () => {
      const ids = ['Zz', '_a', 'a0', 'aB', 'ab'].map(parseUserId)
      const whole = { prefix: parseUserIdPrefix('') }
      for (const [at, id] of ids.entries()) {
        await harness.users.createUser(id)
        await harness.users.putGrant({ ...grantOf(id, 'gift'), bytes: at })
      }
      await harness.users.deleteUser(parseUserId('aB'))
      const all = await harness.ledger.listAccounts({ ...whole, after: undefined, limit: 10_000 })
      const names = all.map(({ user }) => user.userId)
      expect(names).toEqual([...names].sort())
      const ours = all.filter(({ user }) => ids.includes(user.userId))
      expect(ours.map(({ user }) => user.userId)).toEqual(ids)
      expect(ours.map(({ usage }) => usage.capacity - BASE_CAPACITY)).toEqual([0, 1, 2, 3, 4])
      const page = await harness.ledger.listAccounts({
        ...whole,
        after: parseUserId('Zz'),
        limit: 2,
      })
      expect(page).toEqual(all.slice(names.indexOf(parseUserId('Zz')) + 1).slice(0, 2))
    })

    it.each([
      ['pre-', undefined, ['pre-', 'pre-a', 'pre-a-1', 'pre-z']],
      ['pre-a', undefined, ['pre-a', 'pre-a-1']],
      ['pre-', 'pre-a', ['pre-a-1', 'pre-z']],
      ['pre-', 'a', ['pre-', 'pre-a', 'pre-a-1', 'pre-z']],
      ['pre-', 'q', []],
      ['PRE-', undefined, ['PRE-a']],
      ['pre_', undefined, ['pre_a']],
      ['pre-zz', undefined, []],
    ])('users that begin with "%s" are listed after %s', async (prefix, after, expected) => {
      const ids = ['PRE-a', 'pre', 'pre-', 'pre-a', 'pre-a-1', 'pre-z', 'pre_a']
      for (const id of ids) await harness.users.createUser(parseUserId(id))
      const page = { prefix: parseUserIdPrefix(prefix), limit: 10 }
      const from = after === undefined ? undefined : parseUserId(after)
      const found = await harness.ledger.listAccounts({ ...page, after: from })
      expect(found.map(({ user }) => user.userId)).toEqual(expected)
      const first = await harness.ledger.listAccounts({ ...page, after: from, limit: 1 })
      expect(first).toEqual(found.slice(0, 1))
    })

    it('users are listed by creation and id, either way, in pages', async () => {
      for (const id of ['t2', 't1', 't3']) await harness.users.createUser(parseUserId(id))
      const whole = { after: undefined, limit: 10_000 }
      const all = await harness.ledger.listAccounts({ order: 'created_at', ...whole })
      const keys = all.map(({ user }) => [user.createdAt, user.userId] as const)
      expect(keys).toEqual([...keys].sort(([t1, a], [t2, b]) => t1 - t2 || (a < b ? -1 : 1)))
      const newestFirst = await harness.ledger.listAccounts({ order: '-created_at', ...whole })
      expect(newestFirst).toEqual(all.toReversed())
      for (const order of ['created_at', '-created_at'] as const) {
        const [first, ...others] = order === 'created_at' ? all : newestFirst
        const page = await harness.ledger.listAccounts({ order, after: first?.user, limit: 2 })
        expect(page).toEqual(others.slice(0, 2))
      }
    })

    it('a report has the grants in force alone, by source and reference, and they add up', async () => {
      const { userId } = account
      const now = harness.now()
      const others = { ahead: { startsAt: now + 60_000 }, over: { endsAt: now - 60_000 } }
      const counted = { b: {}, a: { startsAt: now - 60_000, endsAt: now + 60_000 } }
      for (const [reference, terms] of Object.entries({ ...others, ...counted, revoked: {} })) {
        await harness.users.putGrant({ ...grantOf(userId, reference), bytes: 10, ...terms })
      }
      await harness.users.revokeGrant(grantOf(userId, 'revoked'))
      const model = 'camera'
      const terms = { label: 'Front door', model, bytes: 7, share: 50 }
      const device = { ...grantOf(userId, 'cam'), source: 'device', ...terms }
      await harness.users.putGrant(device)
      await account.put('a', 60)
      const report = await harness.ledger.reportCapacity(userId)
      expect(report).toMatchObject({
        usage: { capacity: BASE_CAPACITY + 27, used: 60, reserved: 0, fileCount: 1 },
        baseCapacity: BASE_CAPACITY,
        grants: [
          { source: 'device', reference: 'cam', bytes: 7, model },
          { source: 'promotion', reference: 'a', bytes: 10, ...counted.a },
          { source: 'promotion', reference: 'b', bytes: 10 },
        ],
      })
      expect(report?.grants).toHaveLength(3)
      const none = { used: 0, reserved: 0, fileCount: 0, newestAt: undefined }
      expect(report?.devices).toEqual([{ deviceId: 'cam', ...terms, ...none }])
      expect(await harness.ledger.reportDevices(userId)).toEqual(report?.devices)
    })

    it('a report of a user without grants is the base', async () => {
      expect(await harness.ledger.reportCapacity(account.userId)).toEqual({
        usage: { capacity: BASE_CAPACITY, used: 0, reserved: 0, fileCount: 0 },
        history: { used: 0, allowance: 0, count: 0, oldestAt: undefined },
        baseCapacity: BASE_CAPACITY,
        grants: [],
        devices: [],
      })
      expect(await harness.ledger.reportDevices(account.userId)).toEqual([])
    })

    it('a report shows no capacity above 2^53 - 1', async () => {
      for (const reference of ['a', 'b']) await account.grant(reference, MAX_BYTES)
      const report = await harness.ledger.reportCapacity(account.userId)
      expect(report?.usage.capacity).toBe(MAX_BYTES)
      expect(report?.grants.map(({ bytes }) => bytes)).toEqual([MAX_BYTES, MAX_BYTES])
    })

    it('grants are listed in pages, bytewise by source and reference', async () => {
      const { userId } = account
      const keys = ['a/10', 'a/2', 'a/B', 'b/1', 'b/a'].map((key) => key.split('/'))
      for (const [source = '', reference = ''] of keys.toReversed()) {
        await harness.users.putGrant({ ...grantOf(userId, reference), source })
      }
      const list = async (source?: string) => {
        const seen: string[][] = []
        for (let after: { source: string; reference: string } | undefined; ;) {
          const of = source === undefined ? {} : { source }
          const page = await harness.users.listGrants({ userId, ...of, page: { after, limit: 2 } })
          seen.push(...page.map((grant) => [grant.source, grant.reference]))
          expect(page.length).toBeLessThanOrEqual(2)
          after = page.at(-1)
          if (after === undefined) return seen
        }
      }
      expect(await list()).toEqual(keys)
      expect(await list('a')).toEqual(keys.slice(0, 3))
    })
  })
}
