import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewOperatorAction } from '../../../src/core/audit/audit-ledger.ts'
import { createVersion, type Version } from '../../../src/core/objects/object-key.ts'
import { type LedgerHarness, openAccount } from './fixture.ts'

const DAY_MS = 86_400_000

/** The audit trail of operators. */
export function ledgerAuditContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`the audit trail of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let recorded = 0
    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())

    async function record(action: Partial<NewOperatorAction> = {}): Promise<Version> {
      const actionId = createVersion((recorded += 1))
      await harness.ledger.recordOperatorAction({ ...SIGN_IN, actionId, ...action })
      return actionId
    }

    async function ids(
      page: Partial<Pick<NewOperatorAction, 'userId' | 'operator'>> & {
        after?: Version
        limit?: number
      } = {},
    ) {
      const { userId, operator, after, limit = 100 } = page
      const found = await harness.ledger.listOperatorActions({ userId, operator, after, limit })
      return found.map(({ actionId }) => actionId)
    }

    it('has each action once, with what is known of it, newest first and page by page', async () => {
      const { userId } = await openAccount(harness)
      const other = await openAccount(harness)
      const details = { label: '"ä"\u2028', bytes: 2 ** 52, created: true, starts_at: null }
      const full = { actionId: createVersion(0), action: 'grant.put', userId, details } as const
      const origin = { operator: 'dana', address: '2001:db8::1', requestId: 'a request' }
      await harness.ledger.recordOperatorAction({ ...full, ...origin })
      await harness.other.recordOperatorAction({ ...SIGN_IN, actionId: full.actionId })
      const of = await record({ userId: other.userId, action: 'user.delete' })
      const session = await record()
      const all = await harness.ledger.listOperatorActions(FIRST)
      expect(all.map(({ actionId }) => actionId)).toEqual([session, of, full.actionId])
      expect(all[0]).toEqual({ ...SIGN_IN, actionId: session, at: harness.now() })
      expect(all[2]).toEqual({ ...full, ...origin, at: harness.now() })
      expect(await ids({ limit: 2 })).toEqual([session, of])
      expect(await ids({ after: of })).toEqual([full.actionId])
      expect(await ids({ userId })).toEqual([full.actionId])
      expect(await ids({ userId: other.userId, after: session })).toEqual([of])
      expect(await ids({ operator: 'dana' })).toEqual([full.actionId])
      expect(await ids({ operator: 'dana', userId: other.userId })).toEqual([])
      expect(await ids({ operator: 'Dana' })).toEqual([])
    })

    it('outlives the user', async () => {
      const { userId } = await openAccount(harness)
      const deleted = await record({ userId, action: 'user.delete' })
      await harness.users.deleteUser(userId)
      await harness.ledger.purgeDeletedUsers({ userId, limit: 100 })
      expect(await harness.ledger.findAccount(userId)).toBeUndefined()
      expect(await ids({ userId })).toEqual([deleted])
    })

    it('forgets what is too old and what is too much, the oldest first and in pages', async () => {
      const before = await ids()
      await harness.advance(DAY_MS + 1)
      const made = [await record(), await record(), await record(), await record()].toReversed()
      const forget = (bounds: { lifetimeMs?: number; most?: number; limit?: number }) =>
        harness.ledger.forgetOperatorActions({ ...UNBOUNDED, ...bounds })
      expect(await forget({ most: before.length + 4, lifetimeMs: DAY_MS + 1 })).toBe(0)
      expect(await ids()).toEqual([...made, ...before])
      expect(await forget({ lifetimeMs: DAY_MS, limit: 3 })).toBe(3)
      expect(await ids()).toEqual([...made, ...before.slice(0, -3)])
      expect(await forget({ lifetimeMs: DAY_MS })).toBe(before.length - 3)
      expect(await ids()).toEqual(made)
      expect(await forget({ most: 1, limit: 2 })).toBe(2)
      expect(await forget({ most: 1, limit: 2 })).toBe(1)
      expect(await ids()).toEqual(made.slice(0, 1))
    })
  })
}

const SIGN_IN = {
  action: 'session.open',
  userId: undefined,
  operator: undefined,
  details: {},
  address: undefined,
  requestId: undefined,
} as const

const FIRST = { userId: undefined, operator: undefined, after: undefined, limit: 100 } as const
const UNBOUNDED = { lifetimeMs: 1000 * DAY_MS, most: 1000, limit: 100 } as const
