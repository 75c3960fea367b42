import { mkdtemp, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '../../../../src/database/database.ts'
import { createS3Store } from '../../../../src/object-store/s3/store.ts'
import { FakeS3 } from '../../../support/faults/fake-s3.ts'
import { openMigrated } from '../../../support/service/migrated-file.ts'
import { type LedgerReader, openLedgerReader } from '../model/ledger-state.ts'

/** Where runs take place, one after the other. */
export interface Stage extends AsyncDisposable {
  /** A fresh, migrated database with the clock given. Its caller disposes of it. */
  openDatabase(clock: () => number): Promise<StageDatabase>
}

export interface StageDatabase extends AsyncDisposable {
  readonly database: Database
  readonly ledgerReader: LedgerReader
}

/** Sets up what all runs share, in memory where the machine has a file system for that. */
export async function openStage(): Promise<Stage> {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const folder = await mkdtemp(join(parent, 'cloud-repository-simulation-'))
  await warmUp()
  let count = 0
  return {
    async openDatabase(clock) {
      const file = join(folder, `${(count += 1)}.sqlite`)
      const database = await openMigrated({ file, clock })
      const ledgerReader = openLedgerReader(file)
      return {
        database,
        ledgerReader,
        async [Symbol.asyncDispose]() {
          ledgerReader[Symbol.dispose]()
          await database.close()
          await Promise.all(['', '-wal', '-shm'].map((end) => rm(file + end, { force: true })))
        },
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The SDK reads its settings from files with its first request, which would be an event outside the timeline. */
async function warmUp(): Promise<void> {
  const store = createS3Store(new FakeS3().options())
  await store.check(AbortSignal.timeout(10_000))
  await store.close()
}
