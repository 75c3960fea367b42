import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoreRecord } from '../../../src/core/objects/store-record.ts'
import type { Database } from '../../../src/database/database.ts'
import { createStoreRecord } from '../../../src/database/objects/store-record.ts'

/** Two connections to one migrated, empty database. */
export interface RecordHarness {
  readonly database: Database
  readonly twin: Database
  close(): Promise<void>
}

/** What the port promises (`core/objects/store-record.ts`). */
export function storeRecordContract(name: string, open: () => Promise<RecordHarness>): void {
  describe(`the record of the object store on ${name}`, () => {
    let harness: RecordHarness
    let record: StoreRecord
    let other: StoreRecord
    beforeEach(async () => {
      harness = await open()
      record = createStoreRecord(harness.database)
      other = createStoreRecord(harness.twin)
    })
    afterEach(() => harness.close())

    it('is empty at first', async () => {
      expect(await record.read()).toBeUndefined()
    })

    it('keeps the first proposal, for all who propose at once', async () => {
      const proposals = ['a', 'b', 'c', 'd']
      const kept = await Promise.all(
        proposals.map((identity, at) => (at % 2 === 0 ? record : other).propose(identity)),
      )
      expect(new Set(kept).size).toBe(1)
      expect(await other.read()).toEqual({ identity: kept[0], isConfirmed: false })
    })

    it('confirms in place of a proposal, but not of what is confirmed', async () => {
      expect(await record.propose('a')).toBe('a')
      expect(await other.confirm('b')).toBe('b')
      expect(await record.confirm('a')).toBe('b')
      expect(await record.propose('c')).toBe('b')
      expect(await record.read()).toEqual({ identity: 'b', isConfirmed: true })
    })

    it('confirms one identity alone when several are confirmed at once', async () => {
      const confirmed = await Promise.all([record.confirm('a'), other.confirm('b')])
      expect(new Set(confirmed).size).toBe(1)
    })

    it('is replaced, also when it is confirmed', async () => {
      await record.replace('a')
      expect(await record.read()).toEqual({ identity: 'a', isConfirmed: true })
      await other.replace('b')
      expect(await record.confirm('a')).toBe('b')
    })
  })
}
