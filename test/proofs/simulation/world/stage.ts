import { mkdtemp, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Database } from '../../../../src/database/database.ts'
import { createS3Store } from '../../../../src/object-store/s3/store.ts'
import { FakeS3 } from '../../../support/faults/fake-s3.ts'
import { openMigrated } from '../../../support/service/migrated-file.ts'
import { type LedgerReader, openLedgerReader } from '../model/ledger-state.ts'

/** Where runs take place, one after the other. */
export interface Stage extends AsyncDisposable {
  /** A migrated database without rows, with the clock given. Its caller disposes of it. */
  openDatabase(clock: () => number): Promise<StageDatabase>
}

export interface StageDatabase extends AsyncDisposable {
  readonly database: Database
  readonly ledgerReader: LedgerReader
  /** Keeps it from the next run, for a run that has not come to rest and may still write to it. */
  spoil(): void
}

/** Sets up what all runs share, in memory where the machine has a file system for that. */
export async function openStage(): Promise<Stage> {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const folder = await mkdtemp(join(parent, 'cloud-repository-simulation-'))
  await warmUp()
  let count = 0
  /** What the last run has left, without rows: its statements are prepared. */
  let idle: ReusableDatabase | undefined
  return {
    async openDatabase(clock) {
      const opened = idle ?? (await openReusable(join(folder, `${(count += 1)}.sqlite`)))
      idle = undefined
      opened.clock = clock
      const { database, ledgerReader } = opened
      let isSpoiled = false
      return {
        database,
        ledgerReader,
        spoil() {
          isSpoiled = true
        },
        async [Symbol.asyncDispose]() {
          if (isSpoiled) return await opened.close()
          await removeRows(database)
          idle = opened
        },
      }
    },
    async [Symbol.asyncDispose]() {
      await idle?.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface ReusableDatabase {
  readonly database: Database
  readonly ledgerReader: LedgerReader
  clock: () => number
  close(): Promise<void>
}

async function openReusable(file: string): Promise<ReusableDatabase> {
  const database = await openMigrated({ file, clock: () => opened.clock() })
  const ledgerReader = openLedgerReader(file)
  const opened: ReusableDatabase = {
    database,
    ledgerReader,
    clock: Date.now,
    async close() {
      ledgerReader[Symbol.dispose]()
      await database.close()
      await rm(file)
    },
  }
  return opened
}

async function removeRows({ kysely }: Database): Promise<void> {
  await kysely.transaction().execute(async (tx) => {
    await sql`PRAGMA defer_foreign_keys = ON`.execute(tx)
    const { rows } = await sql<{ readonly name: string }>`
      SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'kysely\\_%' ESCAPE '\\'
    `.execute(tx)
    for (const { name } of rows) await sql`DELETE FROM ${sql.table(name)}`.execute(tx)
  })
}

/** The SDK reads its settings from files with its first request, which would be an event outside the timeline. */
async function warmUp(): Promise<void> {
  const store = createS3Store(new FakeS3().options())
  await store.check(AbortSignal.timeout(10_000))
  await store.close()
}
