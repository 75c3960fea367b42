import { sql } from 'kysely'
import type { PendingUpload, UploadLedger } from '../../core/uploads/upload-ledger.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import type { ResumableUploadRow, UploadRow } from '../schema.ts'

/** The end is not a time: the safe time may be far behind the clock. */
export async function endLeases({ db, now }: LedgerTx): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE uploads SET lease_until = 0
    WHERE state = 'pending' AND lease_until > ${now} AND NOT EXISTS (
      SELECT 1 FROM resumable_uploads WHERE resumable_uploads.version = uploads.version
    )
  `.execute(db)
  // A resumable upload survives the process that was appending to it. No write of that process can come any more, so
  // the next append need not take over. What the object store may still do for it is in `store_state`.
  await sql`
    UPDATE resumable_uploads SET holder = NULL, holder_until = 0 WHERE holder IS NOT NULL
  `.execute(db)
  return Number(numAffectedRows)
}

type PendingRow = Pick<UploadRow, 'user_id' | 'version' | 'name' | 'object_key'> &
  Pick<ResumableUploadRow, 'length_bytes'> & { readonly is_running: number }

export async function listPendingUploads(
  { db, now }: LedgerTx,
  { after, limit }: Parameters<UploadLedger['listPendingUploads']>[0],
): Promise<readonly PendingUpload[]> {
  const { rows } = await sql<PendingRow>`
    SELECT uploads.user_id, uploads.version, name, object_key, length_bytes,
      CASE WHEN COALESCE(holder_until, lease_until) > ${now} THEN 1 ELSE 0 END AS is_running
    FROM uploads LEFT JOIN resumable_uploads ON resumable_uploads.version = uploads.version
    WHERE uploads.state = 'pending' AND uploads.version > ${after ?? ''}
    ORDER BY uploads.version LIMIT ${limit}
  `.execute(db)
  return rows.map((row) => ({
    userId: row.user_id,
    version: row.version,
    name: row.name,
    objectKey: row.object_key,
    length: row.length_bytes ?? undefined,
    isRunning: row.is_running === 1,
  }))
}
