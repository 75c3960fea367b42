import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createLedger } from '../../../src/database/ledger.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { Writer } from '../../../src/database/sqlite/writer/writer.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import type { LedgerHarness } from '../../core/ledger/fixture.ts'
import { failOnDeath } from '../../support/runner/fail-on-death.ts'
import { createMemoryFolder } from '../../support/servers/local-server.ts'
import { openMigrated } from '../../support/service/migrated-file.ts'
import { createHarness, harnessOptions } from '../harness.ts'

/** Two connections on one new file, with a clock that stands still until it is moved. */
export async function openSqliteHarness(
  ledgerOptions?: Partial<LedgerOptions>,
): Promise<LedgerHarness> {
  const { harness } = await openFile(ledgerOptions)
  return harness
}

/**
 * As `openSqliteHarness`, with the changes of each of the two instances in a thread of its own. What the rows of the
 * operations do not send there cannot write.
 */
export async function openWriterHarness(
  ledgerOptions?: Partial<LedgerOptions>,
): Promise<LedgerHarness> {
  const { harness, file, clock } = await openFile(ledgerOptions)
  const options = harnessOptions(ledgerOptions)
  const settings = { file, clock, ...options }
  const [writer, other] = [new Writer(settings, failOnDeath), new Writer(settings, failOnDeath)]
  for (const each of [writer, other]) each.start()
  const reader = await openSqlite({ file, clock: () => harness.now() })
  await sql`PRAGMA query_only = ON`.execute(reader.kysely)
  const ports = {
    ledger: writer.ledger(createLedger(reader, options)),
    other: other.ledger(createLedger(reader, options)),
    users: writer.users(createUserStore(reader, options)),
  }
  return {
    ...harness,
    ...ports,
    close: async () => {
      await Promise.all([writer.close(), other.close()])
      await reader.close()
      await harness.close()
    },
  }
}

interface OpenedFile {
  readonly harness: LedgerHarness
  readonly file: string
  /** Its time, in memory that threads share. */
  readonly clock: BigInt64Array
}

async function openFile(ledgerOptions?: Partial<LedgerOptions>): Promise<OpenedFile> {
  const folder = await createMemoryFolder('ledger')
  const file = join(folder.path, 'test.db')
  const clock = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
  Atomics.store(clock, 0, BigInt(Date.now()))
  const now = (): number => Number(Atomics.load(clock, 0))
  const options = { file, clock: now }
  const database = await openMigrated(options)
  const twin = await openSqlite(options)
  const harness = createHarness({
    database,
    twin,
    clock: {
      now,
      advance: async (ms) => void Atomics.add(clock, 0, BigInt(ms)),
    },
    cleanUp: () => folder.remove(),
    ledgerOptions,
  })
  return { harness, file, clock }
}

export async function createFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'cloud-repository-sqlite-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
