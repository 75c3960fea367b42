import { DatabaseSync } from 'node:sqlite'
import type { FileRow, GarbageRow, QuotaRow, UploadRow } from '../../../src/database/schema.ts'

/** All that the database holds of files, at one moment. */
export interface LedgerState {
  readonly files: readonly FileRow[]
  readonly quotas: readonly QuotaRow[]
  readonly uploads: readonly UploadRow[]
  readonly garbage: readonly GarbageRow[]
}

export interface LedgerReader extends Disposable {
  read(): LedgerState
}

/** Looks into a database's file beside the service, by a connection of its own. */
export function openLedgerReader(file: string): LedgerReader {
  const connection = new DatabaseSync(file, { readOnly: true })
  const select = (table: keyof LedgerState) => connection.prepare(`SELECT * FROM ${table}`)
  const statements = {
    files: select('files'),
    quotas: select('quotas'),
    uploads: select('uploads'),
    garbage: select('garbage'),
  }
  return {
    read: () => ({
      files: statements.files.all() as unknown as FileRow[],
      quotas: statements.quotas.all() as unknown as QuotaRow[],
      uploads: statements.uploads.all() as unknown as UploadRow[],
      garbage: statements.garbage.all() as unknown as GarbageRow[],
    }),
    [Symbol.dispose]: () => connection.close(),
  }
}
