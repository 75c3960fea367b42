import { DatabaseSync } from 'node:sqlite'
import type { Selectable } from 'kysely'
import type {
  ChangeRow,
  DeviceUsageRow,
  FileRow,
  GarbageRow,
  HistoryRow,
  QuotaRow,
  ResumableUploadRow,
  UploadPieceRow,
  UploadRow,
} from '../../../../src/database/schema.ts'

export type ResumableState = UploadRow['state']

/** A resumable upload, with what the journal of uploads has of it. */
export type ResumableRow = ResumableUploadRow &
  Pick<
    Selectable<UploadRow>,
    'name' | 'object_key' | 'reserved_bytes' | 'state' | 'lease_until' | 'credential'
  >

/** All that the database holds of files, at one moment. */
export interface LedgerState {
  readonly files: readonly Selectable<FileRow>[]
  readonly quotas: readonly Selectable<QuotaRow>[]
  readonly deviceUsage: readonly DeviceUsageRow[]
  readonly uploads: readonly Selectable<UploadRow>[]
  readonly garbage: readonly GarbageRow[]
  readonly history: readonly Selectable<HistoryRow>[]
  readonly resumables: readonly ResumableRow[]
  /** By first byte. */
  readonly pieces: readonly UploadPieceRow[]
  /** In the order of each feed. */
  readonly changes: readonly ChangeRow[]
  /** The time by which the service destroys what has ended; `undefined` where the clock does not jump. */
  readonly safeTime: number | undefined
}

export interface LedgerReader extends Disposable {
  read(): LedgerState
}

/**
 * Looks into a database's file beside the service, by a connection of its own. Returns the same state as before if
 * nothing was written since.
 */
export function openLedgerReader(file: string): LedgerReader {
  const connection = new DatabaseSync(file, { readOnly: true })
  const select = (table: string) => connection.prepare(`SELECT * FROM ${table}`)
  // Another number once another connection has changed the file.
  const dataVersion = connection.prepare('PRAGMA data_version')
  const statements = {
    files: select('files'),
    quotas: select('quotas'),
    deviceUsage: select('device_usage ORDER BY user_id, device_id'),
    uploads: select('uploads'),
    garbage: select('garbage'),
    history: select('history'),
    resumables: select(RESUMABLES),
    pieces: select('upload_pieces ORDER BY version, first_byte'),
    changes: select('changes ORDER BY user_id, sequence'),
    safeTime: select("leader_leases WHERE name = 'safe_clock'"),
  }
  let last: { readonly at: unknown; readonly state: LedgerState } | undefined
  return {
    read() {
      const at = dataVersion.get()?.['data_version']
      if (last !== undefined && last.at === at) return last.state
      const state = {
        files: statements.files.all() as unknown as Selectable<FileRow>[],
        quotas: statements.quotas.all() as unknown as Selectable<QuotaRow>[],
        deviceUsage: statements.deviceUsage.all() as unknown as DeviceUsageRow[],
        uploads: statements.uploads.all() as unknown as Selectable<UploadRow>[],
        garbage: statements.garbage.all() as unknown as GarbageRow[],
        history: statements.history.all() as unknown as Selectable<HistoryRow>[],
        resumables: statements.resumables.all() as unknown as ResumableRow[],
        pieces: statements.pieces.all() as unknown as UploadPieceRow[],
        changes: statements.changes.all() as unknown as ChangeRow[],
        safeTime: statements.safeTime.get()?.['lease_until'] as number | undefined,
      }
      last = { at, state }
      return state
    },
    [Symbol.dispose]: () => connection.close(),
  }
}

const RESUMABLES = `(
  SELECT uploads.name, uploads.object_key, uploads.reserved_bytes, uploads.state, uploads.lease_until,
    uploads.credential,
    resumable_uploads.*
  FROM resumable_uploads JOIN uploads ON uploads.version = resumable_uploads.version)`
