import { type RawBuilder, sql } from 'kysely'
import { RETENTION_MS } from '../../core/sweep/sweep-ledger.ts'
import type { ObjectKey, Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { delayStart } from '../ledger/safe-now.ts'
import type { ResumableUploadRow } from '../schema.ts'
import { bigint, type LedgerTx } from '../ledger/ledger-sql.ts'
import { garbageBytes } from '../ledger/counted-bytes.ts'
import { removableForDeletedUserAt } from '../ledger/garbage.ts'

// A tail object is garbage from the start. Its removal is postponed while its upload is unfinished, so the sweeper
// and `verify` handle it correctly without special code.
//
// While its upload is unfinished, a tail object belongs to no user and does not count against the bound on the user's
// garbage: the reservation and the limit on announced bytes cover its bytes. Once it is replaced, discarded because of
// a checksum, or left by an aborted upload, it counts like any replaced object. Otherwise a user could fill the store
// with tails, which are kept for a while, by appending and cancelling repeatedly. The count is changed under the user's
// lock. If the append did not report what it has sent, because it crashed, was fenced or is still running when its upload
// is aborted, its key counts as much as the object can hold. A key under which nothing was sent is forgotten.

/** How much longer removals are postponed, so that most records of an append need not renew them. */
const RENEWAL_MS = 60 * 60_000

const RENEWAL_STEP_MS = RENEWAL_MS / 2

/** Whether the lease has moved to another step. Within a step, removals are already postponed far enough. */
export function isRenewalDue(before: number, after: number): boolean {
  return Math.floor(before / RENEWAL_STEP_MS) !== Math.floor(after / RENEWAL_STEP_MS)
}

interface LeasedUpload {
  readonly version: Version
  readonly leaseUntil: number
}

export async function journalTail(
  { db }: LedgerTx,
  key: ObjectKey,
  leaseUntil: number,
): Promise<void> {
  await sql`
    INSERT INTO garbage (object_key, not_before)
    VALUES (${key}, ${leaseUntil + RETENTION_MS + RENEWAL_MS})
  `.execute(db)
}

/**
 * Guarantees that no tail object in use is removed before `RETENTION_MS` after the end of the lease, also if the
 * lease moves within its step.
 */
export async function renewTails(
  { db }: LedgerTx,
  { version, leaseUntil }: LeasedUpload,
): Promise<void> {
  // The sum keeps PostgreSQL from reading all garbage in the order of its times.
  await sql`
    UPDATE garbage SET not_before = ${leaseUntil + RETENTION_MS + RENEWAL_MS}
    WHERE not_before + 0 < ${leaseUntil + RETENTION_MS + RENEWAL_STEP_MS} AND user_id IS NULL
      AND object_key IN (
        ${recordedTails(version)} UNION ALL
        SELECT tail_key FROM resumable_uploads WHERE version = ${version} AND tail_key IS NOT NULL
      )
  `.execute(db)
}

/** A SELECT of the keys of recorded tail objects. */
function recordedTails(version: Version): RawBuilder<unknown> {
  return sql`
    SELECT object_key FROM upload_pieces
    WHERE upload_pieces.version = ${version} AND object_key IS NOT NULL
  `
}

interface LeftTails {
  readonly userId: UserId
  readonly version: Version
  /** The first byte of the first tail object to release. */
  readonly from: number
  /** Keys of tail objects that stay in use. */
  readonly kept: readonly ObjectKey[]
}

/** Releases recorded tail objects, and counts them as the user's garbage. Call this under the user's lock. */
export async function leaveTails(tx: LedgerTx, tails: LeftTails): Promise<void> {
  const { db } = tx
  const { userId, version, from, kept } = tails
  const others = kept.length === 0 ? sql`` : sql`AND garbage.object_key NOT IN (${sql.join(kept)})`
  // With the plugin, each number of keys would prepare another statement.
  const { rows } = await sql<{ readonly bytes: number }>`
    UPDATE garbage
    SET not_before = ${delayStart(tx)} + ${RETENTION_MS}, user_id = ${userId},
        bytes = ${garbageBytes(sql`upload_pieces.size`)}
    FROM upload_pieces
    WHERE upload_pieces.version = ${version} AND upload_pieces.first_byte >= ${from}
      AND upload_pieces.object_key IS NOT NULL
      AND upload_pieces.object_key = garbage.object_key AND garbage.user_id IS NULL ${others}
    RETURNING garbage.bytes AS bytes
  `.execute(db.withoutPlugins())
  await countGarbage(tx, { userId, bytes: rows.reduce((sum, row) => sum + row.bytes, 0) })
}

interface LeftKey {
  readonly userId: UserId
  readonly version: Version
  readonly key: ObjectKey
  /** Bytes that may be stored under the key. */
  readonly bytes: number
}

/** Releases a journaled key, and counts it as the user's garbage. Call this under the user's lock. */
export async function leaveTailKey(tx: LedgerTx, left: LeftKey): Promise<void> {
  const { db } = tx
  const { userId, bytes } = left
  const { rows } = await sql<{ readonly bytes: number }>`
    UPDATE garbage
    SET not_before = ${delayStart(tx)} + ${RETENTION_MS}, user_id = ${userId},
        bytes = ${garbageBytes(bigint(bytes))}
    WHERE ${isUnrecorded(left)}
    RETURNING bytes
  `.execute(db)
  await countGarbage(tx, { userId, bytes: rows[0]?.bytes ?? 0 })
}

/** Forgets a journaled key under which nothing was or will be sent. */
export async function forgetTailKey(
  { db }: LedgerTx,
  key: Pick<LeftKey, 'version' | 'key'>,
): Promise<void> {
  await sql`DELETE FROM garbage WHERE ${isUnrecorded(key)}`.execute(db)
}

/** SQL for whether the row of `garbage` is that journaled key, and holds no recorded piece. */
function isUnrecorded({ version, key }: Pick<LeftKey, 'version' | 'key'>): RawBuilder<boolean> {
  return sql<boolean>`
    object_key = ${key} AND user_id IS NULL
    AND object_key NOT IN (${recordedTails(version)})
  `
}

/** A tail object holds less than a part. */
export function mostTailBytes({
  part_size: partSize,
  length_bytes: length,
}: Pick<ResumableUploadRow, 'part_size' | 'length_bytes'>): number {
  return Math.min(partSize, length ?? partSize)
}

/** The triggers of `garbage` count only inserted and deleted rows. */
async function countGarbage(
  { db }: LedgerTx,
  { userId, bytes }: { readonly userId: UserId; readonly bytes: number },
): Promise<void> {
  if (bytes === 0) return
  await sql`
    UPDATE quotas SET garbage_bytes = garbage_bytes + ${bytes} WHERE user_id = ${userId}
  `.execute(db)
}

/** Releases the tail objects of a deleted user's aborted uploads. They still belong to no user. */
export async function leaveTailsOfUser(tx: LedgerTx, userId: UserId): Promise<void> {
  const aborted = sql`SELECT version FROM uploads WHERE user_id = ${userId} AND state = 'aborted'`
  await sql`
    UPDATE garbage SET not_before = ${removableForDeletedUserAt(tx)}
    WHERE user_id IS NULL AND object_key IN (
      SELECT object_key FROM upload_pieces
      WHERE version IN (${aborted}) AND object_key IS NOT NULL
      UNION ALL
      SELECT tail_key FROM resumable_uploads
      WHERE version IN (${aborted}) AND tail_key IS NOT NULL
    )
  `.execute(tx.db)
}
