import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { type Account, type LedgerHarness, openAccount, outcomeOf, refusalOf } from './fixture.ts'

/** More files than one transaction reads, of which only later ones have the prefix. */
export function ledgerEvictionSearchContract(
  name: string,
  open: () => Promise<LedgerHarness>,
): void {
  describe(`the search for files to evict on ${name}`, () => {
    const cam = parseFileNamePrefix('cam-')
    let harness: LedgerHarness
    let account: Account
    let at: number

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      at = harness.now() - 1_000_000
    })

    /** Fills the account, files of a byte each, in the order of their times. */
    const fill = async (...groups: readonly (readonly [prefix: string, count: number])[]) => {
      let total = 0
      for (const [prefix, count] of groups) {
        await harness.addFiles(account.userId, { prefix, count, since: at })
        at += count
        total += count
      }
      await account.grant('room', total - 100)
    }
    /** The names of what it evicts. */
    const record = async (upload: string, size: number, evict = cam) => {
      const { sequence: after } = (await harness.ledger.latestChange(account)) ?? { sequence: 0 }
      const version = await account.begin(upload, size, { evict })
      await account.commit(version, size, { evict })
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
      const read = await harness.ledger.readChanges({ ...account, after, limit: 9 })
      return (read?.changes ?? []).flatMap((change) =>
        change.type === 'file.evicted' ? [change.file.name] : [],
      )
    }

    it('evicts the oldest ones in turn behind many older files without the prefix', async () => {
      await fill(['doc-', 12_000], ['cam-', 2_500])
      expect(await record('new-1', 1)).toEqual(['cam-00001'])
      expect(await record('new-2', 2)).toEqual(['cam-00002', 'cam-00003'])
      await account.change('cam-00004', { isKept: true })
      expect(await record('cam-00005', 2)).toEqual(['cam-00006'])
    })

    it('goes back to an older file that an earlier search had to spare', async () => {
      await fill(['doc-', 12_000], ['cam-', 2_500])
      const replacing = await account.begin('cam-00001', 1)
      expect(await record('new-1', 1)).toEqual(['cam-00002'])
      await account.abort(replacing)
      expect(await record('new-2', 1)).toEqual(['cam-00001'])
    })

    it('goes on behind files that it spares, which the search of another upload finds', async () => {
      await fill(['doc-', 3_000], ['cam-1', 1], ['doz-', 8_000], ['cam-2', 2_500])
      const replacing = await account.begin('cam-100001', 1)
      expect(await record('new-1', 1)).toEqual(['cam-200001'])
      await account.abort(replacing)
      expect(await record('new-2', 1)).toEqual(['cam-100001'])
    })

    it('reads few files with the prefix by their names, wherever they are in the order of age', async () => {
      await fill(['doc-', 6_000], ['cam-b', 1], ['doz-', 6_000], ['cam-a', 2])
      expect(await record('new-1', 2)).toEqual(['cam-b00001', 'cam-a00001'])
    })

    it('is refused when nothing has the prefix, and when all that has it is kept', async () => {
      await fill(['cam-', 2_500], ['doc-', 12_000])
      const none = parseFileNamePrefix('none-')
      const refused = await refusalOf(account.begin('new', 1, { evict: none }))
      expect(refused).toMatchObject({ code: 'capacity_exceeded', facts: { evictable: 0 } })
      await harness.keepFiles(account.userId, 'cam-')
      expect(await outcomeOf(account.begin('new', 1, { evict: cam }))).toBe('capacity_exceeded')
      await harness.advance(1)
      await account.change('cam-00007', { isKept: false })
      expect(await record('new', 1)).toEqual(['cam-00007'])
    })

    it('considers as many files as one transaction reads, from the first with the prefix on', async () => {
      await fill(['cam-1', 1], ['doc-', 5_100], ['cam-2', 2_500])
      const upload = (size: number) => account.begin('new', size, { evict: cam })
      expect(await refusalOf(upload(2))).toMatchObject({ facts: { evictable: 1 } })
      expect(await record('new-1', 1)).toEqual(['cam-100001'])
      expect(await record('new-2', 2)).toEqual(['cam-200001', 'cam-200002'])
    })
  })
}
