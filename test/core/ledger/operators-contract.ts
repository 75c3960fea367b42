import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/core/auth/sha256.ts'
import { MAX_OPERATORS, type NewOperator } from '../../../src/core/operators/operator-ledger.ts'
import type { LedgerHarness } from './fixture.ts'

/** Operators by name, and by the digest of their token. */
export function ledgerOperatorsContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`the operators of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    afterEach(async () => {
      for (const { name } of await list()) await harness.ledger.removeOperator(name)
    })

    const list = (page: { after?: string; limit?: number } = {}) =>
      harness.ledger.listOperators({ after: page.after, limit: page.limit ?? 1000 })
    const add = (operator: Partial<NewOperator>, { ledger } = harness) =>
      ledger.addOperator({ name: 'dana', role: 'viewer', tokenSha256: digest(), ...operator })

    it('are found by name and by digest until they are removed', async () => {
      const tokenSha256 = digest()
      const dana = await add({ role: 'support', tokenSha256 })
      expect(dana).toEqual({ name: 'dana', role: 'support', createdAt: harness.now() })
      const { ledger, other } = harness
      expect(await other.findOperator('dana')).toEqual(dana)
      expect(await other.findOperatorOfToken(tokenSha256)).toEqual(dana)
      expect(await ledger.findOperator('Dana')).toBeUndefined()
      expect(await ledger.findOperatorOfToken(digest())).toBeUndefined()
      expect(await ledger.removeOperator('dan')).toBe(false)
      expect(await ledger.removeOperator('dana')).toBe(true)
      expect(await ledger.removeOperator('dana')).toBe(false)
      expect(await other.findOperator('dana')).toBeUndefined()
      expect(await other.findOperatorOfToken(tokenSha256)).toBeUndefined()
    })

    it('have the new token alone if their name was removed before', async () => {
      const [first, second] = [digest(), digest()]
      await add({ tokenSha256: first })
      await harness.ledger.removeOperator('dana')
      await add({ tokenSha256: second, role: 'admin' })
      expect(await harness.ledger.findOperatorOfToken(first)).toBeUndefined()
      expect(await harness.ledger.findOperatorOfToken(second)).toMatchObject({ role: 'admin' })
    })

    it('are listed by name, bytewise and page by page', async () => {
      for (const name of ['b', 'a_b', 'a-b', 'a.b', '0', 'ab']) await add({ name })
      const names = (await list()).map(({ name }) => name)
      expect(names).toEqual(['0', 'a-b', 'a.b', 'a_b', 'ab', 'b'])
      const page = await list({ after: 'a-b', limit: 2 })
      expect(page.map(({ name }) => name)).toEqual(['a.b', 'a_b'])
    })

    it('keep their role and token if the name is added again', async () => {
      const tokenSha256 = digest()
      await add({ tokenSha256 })
      await expect(add({ role: 'admin' })).rejects.toMatchObject({ code: 'operator_exists' })
      expect(await harness.ledger.findOperatorOfToken(tokenSha256)).toMatchObject({
        role: 'viewer',
      })
    })

    it('are added once by a call whose outcome was unknown', async () => {
      const operator = { tokenSha256: digest() }
      expect(await add(operator)).toEqual(await add(operator))
      expect(await list()).toHaveLength(1)
    })

    it('are one if several of a name are added at once', async () => {
      const both = [harness, { ...harness, ledger: harness.other }]
      const added = await Promise.allSettled(
        Array.from({ length: 8 }, (_none, at) => add({}, both[at % 2])),
      )
      expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await list()).toHaveLength(1)
    })

    it('are at most so many, also if they are added at once', async () => {
      for (let at = 0; at < MAX_OPERATORS - 3; at += 1) await add({ name: `n${at}` })
      const both = [harness, { ...harness, ledger: harness.other }]
      const added = await Promise.allSettled(
        Array.from({ length: 8 }, (_none, at) => add({ name: `more${at}` }, both[at % 2])),
      )
      const refused = added.flatMap((each) =>
        each.status === 'rejected' ? [each.reason as unknown] : [],
      )
      expect(refused).toHaveLength(5)
      for (const reason of refused) {
        expect(reason).toMatchObject({
          code: 'operator_count_exceeded',
          facts: { max_operators: MAX_OPERATORS },
        })
      }
      expect(await list()).toHaveLength(MAX_OPERATORS)
      await expect(add({ name: 'n0' })).rejects.toMatchObject({ code: 'operator_exists' })
    })
  })
}

function digest(): string {
  return sha256(randomUUID())
}
