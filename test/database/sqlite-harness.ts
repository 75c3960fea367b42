import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import type { LedgerHarness } from '../core/ledger-fixture.ts'
import { createHarness } from './harness.ts'

/** Two connections on one new file, with a clock that stands still until it is moved. */
export async function openSqliteHarness(): Promise<LedgerHarness> {
  const folder = await createFolder()
  let now = Date.now()
  const options = { file: join(folder.path, 'test.db'), clock: () => now }
  const database = await openSqlite(options)
  await migrate(database)
  const twin = await openSqlite(options)
  return createHarness({
    database,
    twin,
    clock: {
      now: () => now,
      advance: async (ms) => {
        now += ms
      },
    },
    cleanUp: () => folder.remove(),
  })
}

export async function createFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'cloud-repository-sqlite-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
