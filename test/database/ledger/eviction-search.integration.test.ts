import type { CompiledQuery } from 'kysely'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { READ_BY_AGE } from '../../../src/database/ledger/eviction-search.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { openAccount } from '../../core/ledger/fixture.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'
import { COUNTING, rowsOf } from '../files/list-plans.ts'
import { createHarness } from '../harness.ts'
import { explainAll } from '../postgres/hot-reads.ts'
import { recordingRuns } from '../sweep/sweep-plans.ts'

describe.skipIf(inject('postgres') === undefined)('the search for files to evict', () => {
  it('reads as many rows as its bound, and their files, whatever the statistics say', async () => {
    const own = await createMigratedDatabase()
    const database = await openPostgres({ url: own.url })
    const harness = createHarness({
      database,
      twin: await openPostgres({ url: own.url }),
      clock: { now: () => Date.now(), advance: async () => undefined },
      cleanUp: () => own.drop(),
    })
    onTestFinished(() => harness.close())
    const account = await openAccount(harness)
    const { userId } = account
    await harness.addFiles(userId, { prefix: 'doc-', count: 12_000, since: 0 })
    await harness.addFiles(userId, { prefix: 'cam-', count: 3_000, since: 20_000 })
    await harness.keepFiles(userId, 'cam-')
    const statements: CompiledQuery[] = []
    const options = { baseCapacity: 0, limits: { maxFiles: 0 } }
    const ledger = createLedger(recordingRuns(database, statements), options)
    const upload = { ...account, name: parseFileName('new'), bytes: 1 }
    const evict = parseFileNamePrefix('cam-')
    await expect(ledger.checkBegin({ ...upload, evict })).rejects.toMatchObject({
      code: 'file_count_exceeded',
    })
    const searches = statements.filter(({ sql }) => /FROM files|set_config/.test(sql))
    expect(searches.length).toBeGreaterThan(4)
    const plans = await explainAll({ database, statements: searches, explain: COUNTING })
    expect(Math.max(...plans.map(rowsOf))).toBeLessThanOrEqual(2 * READ_BY_AGE)
  })
})
