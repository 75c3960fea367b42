import { sql } from 'kysely'
import type { AbortUpload } from '../../core/uploads/upload-ledger.ts'
import type { ObjectKey } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { ResumableUploadRow } from '../schema.ts'
import type { LedgerTx, UploadId } from '../ledger/ledger-sql.ts'
import { leaveTailKey, leaveTails, leaveTailsOfUser, mostTailBytes } from './tails.ts'

/**
 * Whether no append has ever claimed the pending upload, so nothing was sent to the store. False for other uploads.
 * Call this under the user's lock. No claim can follow before the transaction ends, because a claim locks the row.
 */
export async function isUnclaimed(
  { db, forUpdate }: LedgerTx,
  { userId, version }: UploadId,
): Promise<boolean> {
  if (forUpdate !== undefined) {
    await sql`
      SELECT version FROM uploads WHERE version = ${version} AND state = 'pending' ${forUpdate}
    `.execute(db)
  }
  const { rows } = await sql`
    SELECT version FROM resumable_uploads
    WHERE version = ${version} AND user_id = ${userId} AND epoch = 0
  `.execute(db)
  return rows.length === 1
}

/** Deletes the pending uploads of a user that are unclaimed (see `isUnclaimed`). Returns their reservations. */
export async function forgetUnclaimedOfUser(
  { db, forUpdate }: LedgerTx,
  userId: UserId,
): Promise<readonly { readonly reserved_bytes: number }[]> {
  const pending = sql`user_id = ${userId} AND state = 'pending'`
  if (forUpdate !== undefined) {
    await sql`SELECT version FROM uploads WHERE ${pending} ${forUpdate}`.execute(db)
  }
  const { rows } = await sql<{ readonly reserved_bytes: number }>`
    DELETE FROM uploads WHERE ${pending} AND version IN (
      SELECT version FROM resumable_uploads WHERE user_id = ${userId} AND epoch = 0
    )
    RETURNING reserved_bytes
  `.execute(db)
  return rows
}

type EndedRow = Pick<ResumableUploadRow, 'part_size' | 'length_bytes'> & {
  readonly tail_key: ObjectKey | null
}

/**
 * The additional steps of an abort for a resumable upload, under the user's lock. Asks its holder to stop, and keeps
 * only what is reported of an ended upload, so that its rows stay small.
 */
export async function endResumable(
  tx: LedgerTx,
  { userId, version, endedAs }: Pick<AbortUpload, 'userId' | 'version' | 'endedAs'>,
): Promise<void> {
  const { rows } = await sql<EndedRow>`
    UPDATE resumable_uploads
    SET ended_as = ${endedAs ?? null}, stop_asked = 1, metadata = '', precondition = NULL
    WHERE version = ${version} AND user_id = ${userId}
    RETURNING tail_key, part_size, length_bytes
  `.execute(tx.db)
  const [ended] = rows
  if (ended === undefined) return
  await leaveTails(tx, { userId, version, from: 0, kept: [] })
  const { tail_key: key } = ended
  if (key !== null) await leaveTailKey(tx, { userId, version, key, bytes: mostTailBytes(ended) })
  await sql`DELETE FROM upload_pieces WHERE version = ${version}`.execute(tx.db)
}

/** As `endResumable`, for all uploads that the purge of a user has aborted. */
export async function endResumablesOfUser(tx: LedgerTx, userId: UserId): Promise<void> {
  await sql`
    UPDATE resumable_uploads SET ended_as = COALESCE(ended_as, 'cancelled'), stop_asked = 1
    WHERE user_id = ${userId}
  `.execute(tx.db)
  await leaveTailsOfUser(tx, userId)
}
