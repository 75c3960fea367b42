import type { DatabaseConfig } from '../config/parsers.ts'
import { fileIdOf } from '../core/same-file.ts'
import type { Ledger } from '../database/ledger.ts'
import type { LedgerOptions } from '../database/operations/session.ts'
import { SqliteInstances } from '../database/sqlite/instances.ts'
import { Writer } from '../database/sqlite/writer/writer.ts'

/** What only the embedded database has: a server has its own processes, and clients on machines unknown here. */
export interface Embedded {
  readonly writer: Writer
  readonly instances: SqliteInstances
}

interface EmbeddedOptions {
  readonly ledgerOptions: LedgerOptions
  readonly onDeath: ((cause: unknown) => void) | undefined
}

export function openEmbedded(
  database: DatabaseConfig,
  { ledgerOptions, onDeath = endProcess }: EmbeddedOptions,
): Embedded | undefined {
  if (database.kind !== 'sqlite') return undefined
  const { file } = database
  return {
    writer: new Writer({ file, fileId: fileIdOf(file), ...ledgerOptions }, onDeath),
    instances: new SqliteInstances(file),
  }
}

/** As for any uncaught error: all data is durable, and the supervisor restarts the service. */
function endProcess(cause: unknown): void {
  process.nextTick(() => {
    throw new Error('The database writer thread has ended.', { cause })
  })
}

/** Ends the upload leases of dead processes, and returns how many. */
export async function endLeases(
  { instances, writer }: Embedded,
  { ledger, warn }: { readonly ledger: Ledger; readonly warn: Warn | undefined },
): Promise<number> {
  const joined = instances.join(() =>
    ledger.endLeases().catch((cause: unknown) => {
      // Leases expire anyway. A full disk, for example, must not prevent the start: removals make room.
      warn?.(
        cause,
        'ending the upload leases of a crashed process failed; waiting for their expiry',
      )
      return 0
    }),
  )
  const ended = (await joined) ?? 0
  // Each ended lease leads to an abort, which writes.
  if (ended > 0) writer.start()
  return ended
}

type Warn = (err: unknown, message: string) => void
