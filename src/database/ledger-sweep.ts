import { sql } from 'kysely'
import type { AbortedUpload, Ledger } from '../core/ledger.ts'
import type { ObjectKey } from '../core/object-key.ts'
import type { UserId } from '../core/user-id.ts'
import type { Version } from '../core/version.ts'
import { type Books, lockUser } from './books.ts'

/** The ledger's methods for the sweeper. */
export async function listExpiredUploads(
  { db, now }: Books,
  limit: number,
): Promise<readonly { userId: UserId; version: Version }[]> {
  const { rows } = await sql<{ readonly user_id: UserId; readonly version: Version }>`
    SELECT user_id, version FROM uploads
    WHERE state = 'pending' AND lease_until <= ${now}
    ORDER BY lease_until LIMIT ${limit}
  `.execute(db)
  return rows.map((row) => ({ userId: row.user_id, version: row.version }))
}

export async function listAbortedUploads(
  { db }: Books,
  { after, limit }: Parameters<Ledger['listAbortedUploads']>[0],
): Promise<readonly AbortedUpload[]> {
  const { rows } = await sql<{ readonly version: Version; readonly object_key: ObjectKey }>`
    SELECT version, object_key FROM uploads
    WHERE state = 'aborted' AND version > ${after ?? ''}
    ORDER BY version LIMIT ${limit}
  `.execute(db)
  return rows.map((row) => ({ version: row.version, objectKey: row.object_key }))
}

const ALL = sql``
const COMMITTED = sql`AND state = 'committed'`

export async function forgetUploads(
  { db, now }: Books,
  { which, retentionMs, limit }: Parameters<Ledger['forgetUploads']>[0],
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM uploads WHERE version IN (
      SELECT version FROM uploads
      WHERE settled_at < ${now} - ${retentionMs} ${which === 'settled' ? ALL : COMMITTED}
      ORDER BY settled_at LIMIT ${limit}
    )
  `.execute(db)
  return Number(numAffectedRows)
}

export async function listGarbage(
  { db, now }: Books,
  { after, limit }: Parameters<Ledger['listGarbage']>[0],
): Promise<readonly ObjectKey[]> {
  const { rows } = await sql<{ readonly object_key: ObjectKey }>`
    SELECT object_key FROM garbage
    WHERE not_before <= ${now} AND object_key > ${after ?? ''}
    ORDER BY object_key LIMIT ${limit}
  `.execute(db)
  return rows.map((row) => row.object_key)
}

const MAX_KEYS_PER_STATEMENT = 500

export async function forgetGarbage({ db }: Books, keys: readonly ObjectKey[]): Promise<void> {
  for (let first = 0; first < keys.length; first += MAX_KEYS_PER_STATEMENT) {
    const some = keys.slice(first, first + MAX_KEYS_PER_STATEMENT)
    await sql`DELETE FROM garbage WHERE object_key IN (${sql.join(some)})`.execute(db)
  }
}

/** One call works on one user, so that it holds one user's lock and only for a while. */
export async function purgeDeletedUsers(
  books: Books,
  { limit, garbageDelayMs }: Parameters<Ledger['purgeDeletedUsers']>[0],
): Promise<number> {
  const userId = await findUserToPurge(books)
  if (userId === undefined) return 0
  await lockUser(books, userId)
  // While the lock was awaited the id can have been forgotten and given to a new user.
  if (!(await isDeleted(books, userId))) return 0
  const files = await discardFiles(books, { userId, limit, garbageDelayMs })
  const uploads = await abortUploads(books, userId)
  const users = await forgetUser(books, userId)
  return files + uploads + users
}

/** A user whose aborted uploads are all that is left waits until those are forgotten. */
async function findUserToPurge({ db }: Books): Promise<UserId | undefined> {
  const { rows } = await sql<{ readonly id: UserId }>`
    SELECT id FROM users
    WHERE status = 'deleted' AND (
      EXISTS (SELECT 1 FROM files WHERE user_id = users.id)
      OR EXISTS (SELECT 1 FROM uploads WHERE user_id = users.id AND state = 'pending')
      OR NOT EXISTS (SELECT 1 FROM uploads WHERE user_id = users.id AND state = 'aborted')
    )
    ORDER BY id LIMIT 1
  `.execute(db)
  return rows[0]?.id
}

async function isDeleted({ db }: Books, userId: UserId): Promise<boolean> {
  const { rows } = await sql`
    SELECT id FROM users WHERE id = ${userId} AND status = 'deleted'
  `.execute(db)
  return rows.length === 1
}

interface Discard {
  readonly userId: UserId
  readonly limit: number
  readonly garbageDelayMs: number
}

async function discardFiles(
  { db, now }: Books,
  { userId, limit, garbageDelayMs }: Discard,
): Promise<number> {
  const some = sql`FROM files WHERE user_id = ${userId} ORDER BY name LIMIT ${limit}`
  await sql`
    INSERT INTO garbage (object_key, not_before)
    SELECT object_key, ${now} + ${garbageDelayMs} ${some}
  `.execute(db)
  const { rows } = await sql<{ readonly size: number }>`
    DELETE FROM files WHERE user_id = ${userId} AND name IN (SELECT name ${some}) RETURNING size
  `.execute(db)
  const bytes = rows.reduce((sum, row) => sum + row.size, 0)
  await sql`
    UPDATE quotas
    SET used_bytes = used_bytes - ${bytes}, file_count = file_count - ${rows.length}
    WHERE user_id = ${userId}
  `.execute(db)
  return rows.length
}

async function abortUploads({ db, now }: Books, userId: UserId): Promise<number> {
  const { rows } = await sql<{ readonly reserved_bytes: number }>`
    UPDATE uploads SET state = 'aborted', settled_at = ${now}
    WHERE user_id = ${userId} AND state = 'pending'
    RETURNING reserved_bytes
  `.execute(db)
  const bytes = rows.reduce((sum, row) => sum + row.reserved_bytes, 0)
  await sql`
    UPDATE quotas SET reserved_bytes = reserved_bytes - ${bytes} WHERE user_id = ${userId}
  `.execute(db)
  return rows.length
}

/** Access tokens, grants, the quota and committed uploads go with the user's row. */
async function forgetUser({ db }: Books, userId: UserId): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM users
    WHERE id = ${userId} AND status = 'deleted'
      AND NOT EXISTS (SELECT 1 FROM files WHERE user_id = users.id)
      AND NOT EXISTS (SELECT 1 FROM uploads WHERE user_id = users.id AND state <> 'committed')
  `.execute(db)
  return Number(numAffectedRows)
}
