import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
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
    countWrites: await countWrites(database),
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

/** SQLite keeps no trace of a write, so a trigger does. */
async function countWrites(database: Database): Promise<LedgerHarness['countWrites']> {
  const { kysely } = database
  await sql`CREATE TABLE guess_writes (address text PRIMARY KEY, writes bigint NOT NULL)`.execute(
    kysely,
  )
  await sql`
    CREATE TRIGGER guess_written AFTER UPDATE ON guesses BEGIN
      INSERT INTO guess_writes VALUES (new.address, 1)
      ON CONFLICT (address) DO UPDATE SET writes = writes + 1;
    END
  `.execute(kysely)
  return async (address) => {
    const { rows } = await sql<{ readonly writes: number }>`
      SELECT writes FROM guess_writes WHERE address = ${address}
    `.execute(kysely)
    return rows[0]?.writes ?? 0
  }
}
