import { sql } from 'kysely'
import type { SweepLedger } from '../../core/sweep/sweep-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { countedBytes, type File } from '../../core/files/file.ts'
import { countDevices, deviceChanges } from '../ledger/device-usage.ts'
import { delayStart } from '../ledger/safe-now.ts'
import { removableForDeletedUserAt } from '../ledger/garbage.ts'
import { type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'
import { purgeHistoryOfDeleted } from '../history/purge-versions.ts'
import { queuePurge } from '../changes/webhook-queue.ts'
import { endResumablesOfUser, forgetUnclaimedOfUser } from '../resumable/end.ts'

/** Works on one user per call, so that it holds one user's lock, and only briefly. */
export async function purgeDeletedUsers(
  tx: LedgerTx,
  { userId: chosen, limit }: Parameters<SweepLedger['purgeDeletedUsers']>[0],
): Promise<number> {
  const userId = chosen ?? (await findUserToPurge(tx, undefined))
  if (userId === undefined) return 0
  await lockUser(tx, userId)
  // During the wait for the lock, the id may have been forgotten and given to a new user.
  if (!(await isDeleted(tx, userId))) return 0
  const purge = { userId, limit }
  let moved = 0
  for (const step of STEPS) {
    moved += await step(tx, purge)
  }
  return moved
}

export async function findUserToPurge(
  { db }: LedgerTx,
  after: UserId | undefined,
): Promise<UserId | undefined> {
  const { rows } = await sql<{ readonly id: UserId }>`
    SELECT id FROM users
    WHERE status = 'deleted' AND id > ${after ?? ''} AND (
      EXISTS (SELECT 1 FROM files WHERE user_id = users.id)
      OR EXISTS (SELECT 1 FROM history WHERE user_id = users.id)
      OR EXISTS (SELECT 1 FROM uploads WHERE user_id = users.id AND state <> 'aborted')
      OR NOT EXISTS (SELECT 1 FROM uploads WHERE user_id = users.id AND state = 'aborted')
    )
    ORDER BY id LIMIT 1
  `.execute(db)
  return rows[0]?.id
}

async function isDeleted({ db }: LedgerTx, userId: UserId): Promise<boolean> {
  const { rows } = await sql`
    SELECT id FROM users WHERE id = ${userId} AND status = 'deleted'
  `.execute(db)
  return rows.length === 1
}

interface Purge {
  readonly userId: UserId
  readonly limit: number
}

/** As `applyChanges`, for many files in three statements. */
async function discardFiles(tx: LedgerTx, purge: Purge): Promise<number> {
  const { db } = tx
  const { userId, limit } = purge
  const some = sql`FROM files WHERE user_id = ${userId} ORDER BY name LIMIT ${limit}`
  await sql`
    INSERT INTO garbage (object_key, not_before)
    SELECT object_key, ${removableForDeletedUserAt(tx)} ${some}
  `.execute(db)
  const { rows } = await sql<File>`
    DELETE FROM files WHERE user_id = ${userId} AND name IN (SELECT name ${some})
    RETURNING ${FILE_COLUMNS}
  `.execute(db)
  const bytes = rows.reduce((sum, row) => sum + countedBytes(row), 0)
  await sql`
    UPDATE quotas
    SET used_bytes = used_bytes - ${bytes}, file_count = file_count - ${rows.length}
    WHERE user_id = ${userId}
  `.execute(db)
  await countDevices(tx, userId, deviceChanges(rows.map((old) => ({ old }))))
  return rows.length
}

async function abortUploads(tx: LedgerTx, purge: Purge): Promise<number> {
  const { db, now } = tx
  const { userId } = purge
  const forgotten = await forgetUnclaimedOfUser(tx, userId)
  const { rows } = await sql<{ readonly reserved_bytes: number }>`
    UPDATE uploads SET state = 'aborted', settled_at = ${delayStart(tx)}, remove_at = ${now}
    WHERE user_id = ${userId} AND state = 'pending'
    RETURNING reserved_bytes
  `.execute(db)
  const ended = [...forgotten, ...rows]
  const bytes = ended.reduce((sum, row) => sum + row.reserved_bytes, 0)
  await sql`
    UPDATE quotas SET reserved_bytes = reserved_bytes - ${bytes} WHERE user_id = ${userId}
  `.execute(db)
  if (rows.length > 0) await endResumablesOfUser(tx, userId)
  return ended.length
}

/** Works in pages, because there may be as many rows as commits in a quarter of an hour. */
async function forgetCommitted({ db }: LedgerTx, { userId, limit }: Purge): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM uploads WHERE version IN (
      SELECT version FROM uploads WHERE user_id = ${userId} AND state = 'committed' LIMIT ${limit}
    )
  `.execute(db)
  return Number(numAffectedRows)
}

/** Works in pages: releasing all garbage at once, as the foreign key would, could exceed the statement timeout. */
async function disownGarbage({ db }: LedgerTx, { userId, limit }: Purge): Promise<number> {
  const { rows } = await sql<{ readonly bytes: number }>`
    UPDATE garbage SET user_id = NULL WHERE object_key IN (
      SELECT object_key FROM garbage WHERE user_id = ${userId} LIMIT ${limit}
    ) RETURNING bytes
  `.execute(db)
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
  await sql`
    UPDATE quotas SET garbage_bytes = garbage_bytes - ${bytes} WHERE user_id = ${userId}
  `.execute(db)
  return rows.length
}

/** Works in pages, as the table has no reference to the user. */
async function forgetChanges({ db }: LedgerTx, { userId, limit }: Purge): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM changes WHERE user_id = ${userId} AND sequence IN (
      SELECT sequence FROM changes WHERE user_id = ${userId} ORDER BY sequence LIMIT ${limit}
    )
  `.execute(db)
  return Number(numAffectedRows)
}

/** Access tokens, grants and the quota cascade. */
async function forgetUser(tx: LedgerTx, { userId }: Purge): Promise<number> {
  const { db } = tx
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM users
    WHERE id = ${userId} AND status = 'deleted'
      AND NOT EXISTS (SELECT 1 FROM files WHERE user_id = users.id)
      AND NOT EXISTS (SELECT 1 FROM history WHERE user_id = users.id)
      AND NOT EXISTS (SELECT 1 FROM uploads WHERE user_id = users.id)
      AND NOT EXISTS (SELECT 1 FROM garbage WHERE user_id = users.id)
      AND NOT EXISTS (SELECT 1 FROM changes WHERE user_id = users.id)
  `.execute(db)
  if (numAffectedRows > 0n) await queuePurge(tx, userId)
  return Number(numAffectedRows)
}

const STEPS = [
  discardFiles,
  purgeHistoryOfDeleted,
  abortUploads,
  forgetCommitted,
  disownGarbage,
  forgetChanges,
  forgetUser,
] as const
