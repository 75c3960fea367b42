import { type QueryResult, type RawBuilder, sql } from 'kysely'
import {
  type AbortedUpload,
  type ForgottenChanges,
  type Garbage,
  RECHECK_MS,
  RETRY_MS,
  type SweepLedger,
} from '../../core/sweep/sweep-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Version } from '../../core/objects/object-key.ts'
import { safeNow } from '../ledger/safe-now.ts'
import { fromRow, type Row } from '../ledger/rows.ts'
import { isUsable } from '../links/link-ledger.ts'
import { bigint, type Clock, except, type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'

/**
 * Whether nobody holds the pending upload any more. What a resumable upload has stored is kept until its lease has ended
 * by the safe time; the request of another one renews its lease.
 */
export function isLeaseOver(clock: Clock): RawBuilder<boolean> {
  return sql<boolean>`(
    lease_until <= ${clock.now} AND (lease_until <= ${safeNow(clock)} OR NOT EXISTS (
      SELECT 1 FROM resumable_uploads WHERE resumable_uploads.version = uploads.version
    ))
  )`
}

export async function listExpiredUploads(
  tx: LedgerTx,
  { except: userIds = [], limit }: Parameters<SweepLedger['listExpiredUploads']>[0],
): Promise<readonly { userId: UserId; version: Version }[]> {
  const { rows } = await sql<{ readonly userId: UserId; readonly version: Version }>`
    SELECT user_id AS "userId", version FROM uploads
    WHERE state = 'pending' AND ${isLeaseOver(tx)} ${except(userIds)}
    ORDER BY lease_until LIMIT ${limit}
  `.execute(tx.db)
  return rows
}

export async function listEndedDrops(
  tx: LedgerTx,
  { except: userIds, limit }: Parameters<SweepLedger['listEndedDrops']>[0],
): ReturnType<SweepLedger['listEndedDrops']> {
  const { rows } = await sql<{ readonly userId: UserId; readonly version: Version }>`
    SELECT uploads.user_id AS "userId", uploads.version AS version
    FROM resumable_uploads JOIN uploads ON uploads.version = resumable_uploads.version
    WHERE uploads.link_id IS NOT NULL AND uploads.state = 'pending'
      ${except(userIds, sql`uploads.user_id`)}
      AND NOT EXISTS (
        SELECT 1 FROM links
        WHERE links.user_id = uploads.user_id AND links.link_id = uploads.link_id
          AND ${isUsable({ now: safeNow(tx) })}
      )
    LIMIT ${limit}
  `.execute(tx.db)
  return rows
}

export async function listAbortedUploads(
  { db, now, times }: LedgerTx,
  { after, limit }: Parameters<SweepLedger['listAbortedUploads']>[0],
): Promise<readonly AbortedUpload[]> {
  const { rows } = await sql<AbortedRow>`
    SELECT user_id AS "userId", version, object_key AS "objectKey", remove_at AS "removeAt",
      CASE WHEN settled_at < ${safeNow({ now })} - ${times.retentionMs} THEN 1 ELSE 0 END AS is_last
    FROM uploads
    WHERE state = 'aborted' AND remove_at <= ${now}
      AND (remove_at, version) > (${after?.removeAt ?? -1}, ${after?.version ?? ''})
    ORDER BY remove_at, version LIMIT ${limit}
  `.execute(db)
  return rows.map(toAborted)
}

type AbortedRow = Omit<AbortedUpload, 'isLast'> & { readonly is_last: number }

function toAborted({ is_last: isLast, ...upload }: AbortedRow): AbortedUpload {
  return { ...upload, isLast: isLast === 1 }
}

/** As for garbage: a trigger on the deleted rows changes their user's figures. */
export async function noteAbortedRemovals(
  tx: LedgerTx,
  removals: Parameters<SweepLedger['noteAbortedRemovals']>[0],
): Promise<number> {
  const { db, now } = tx
  const { retentionMs } = tx.times
  const { userId, removed, failed } = removals
  if (userId !== undefined) await lockUser(tx, userId)
  const age = sql`(${now} - settled_at)`
  const left = sql`(settled_at + ${retentionMs} + 1 - ${now})`
  const soonest = sql`(CASE WHEN ${age} < ${left} THEN ${age} ELSE ${left} END)`
  const forgotten = await forEach(versionsOf(removed.filter(({ isLast }) => isLast)), (versions) =>
    sql`DELETE FROM uploads WHERE version IN (${versions}) AND state = 'aborted'`.execute(db),
  )
  await forEach(versionsOf(removed.filter(({ isLast }) => !isLast)), (versions) =>
    sql`
      UPDATE uploads
      SET remove_at = ${now} + CASE WHEN ${soonest} < ${RECHECK_MS} THEN ${RECHECK_MS} ELSE ${soonest} END
      WHERE version IN (${versions}) AND state = 'aborted'
    `.execute(db),
  )
  await forEach(versionsOf(failed), (versions) =>
    sql`
      UPDATE uploads SET remove_at = ${now} + ${RETRY_MS}
      WHERE version IN (${versions}) AND state = 'aborted'
    `.execute(db),
  )
  return forgotten
}

const versionsOf = (uploads: readonly AbortedUpload[]) => uploads.map(({ version }) => version)

export async function forgetChanges(
  { db, now }: LedgerTx,
  { after, lifetimeMs, limit }: Parameters<SweepLedger['forgetChanges']>[0],
): Promise<ForgottenChanges> {
  const safe = safeNow({ now })
  const { numAffectedRows: parked = 0n } = await sql`
    DELETE FROM parked_webhooks WHERE webhook_id IN (
      SELECT webhook_id FROM parked_webhooks
      WHERE parked_at < ${safe} - ${lifetimeMs} ORDER BY parked_at LIMIT ${limit}
    )
  `.execute(db)
  const isOld = sql`at < ${safe} - ${lifetimeMs}`
  const { rows: users } = await sql<{ readonly userId: UserId; readonly has_old: number | null }>`
    SELECT user_id AS "userId", (
        SELECT CASE WHEN ${isOld} THEN 1 ELSE 0 END FROM changes
        WHERE changes.user_id = page.user_id ORDER BY sequence LIMIT 1
      ) AS has_old
    FROM (
      SELECT user_id FROM quotas WHERE user_id > ${after ?? ''} ORDER BY user_id LIMIT ${USERS_PER_PAGE}
    ) AS page
    ORDER BY user_id
  `.execute(db)
  let [forgotten, last] = [0, after]
  for (const { userId, has_old: hasOld } of users) {
    if (hasOld === 1) {
      const { numAffectedRows = 0n } = await sql`
        DELETE FROM changes WHERE user_id = ${userId} AND ${isOld} AND sequence IN (
          SELECT sequence FROM changes
          WHERE user_id = ${userId} ORDER BY sequence LIMIT ${limit - forgotten}
        )
      `.execute(db)
      forgotten += Number(numAffectedRows)
      if (forgotten === limit) return { forgotten: forgotten + Number(parked), last }
    }
    last = userId
  }
  const isEnd = users.length < USERS_PER_PAGE
  return { forgotten: forgotten + Number(parked), last: isEnd ? undefined : last }
}

const USERS_PER_PAGE = 100

export async function forgetUploads(
  { db, now, times }: LedgerTx,
  { limit }: Parameters<SweepLedger['forgetUploads']>[0],
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM uploads WHERE version IN (
      SELECT version FROM uploads
      WHERE state = 'committed' AND settled_at < ${safeNow({ now })} - ${times.retentionMs}
      ORDER BY settled_at LIMIT ${limit}
    )
  `.execute(db)
  return Number(numAffectedRows)
}

export async function listGarbage(
  { db, now }: LedgerTx,
  { after, limit, safe }: Parameters<SweepLedger['listGarbage']>[0],
): Promise<readonly Garbage[]> {
  const dueBy = safe === undefined ? safeNow({ now }) : bigint(safe)
  const { rows } = await sql<Row<Garbage>>`
    SELECT object_key AS "objectKey", not_before AS "notBefore", user_id AS "userId" FROM garbage
    WHERE not_before <= ${dueBy} AND not_before <= ${now}
      AND (not_before, object_key) > (${after?.notBefore ?? -1}, ${after?.objectKey ?? ''})
    ORDER BY not_before, object_key LIMIT ${limit}
  `.execute(db)
  return rows.map((row) => fromRow<Garbage>(row))
}

/** Deleting garbage changes its user's figures by a trigger, so the user is locked first. */
export async function noteGarbageRemovals(
  tx: LedgerTx,
  { userId, removed, failed }: Parameters<SweepLedger['noteGarbageRemovals']>[0],
): Promise<void> {
  const { db, now } = tx
  if (userId !== undefined) await lockUser(tx, userId)
  await forEach(keysOf(removed), (keys) =>
    sql`DELETE FROM garbage WHERE object_key IN (${keys})`.execute(db),
  )
  await forEach(keysOf(failed), (keys) =>
    sql`
      UPDATE garbage SET not_before = ${now} + ${RETRY_MS} WHERE object_key IN (${keys})
    `.execute(db),
  )
}

const keysOf = (garbage: readonly Garbage[]) => garbage.map(({ objectKey }) => objectKey)

const MAX_KEYS_PER_STATEMENT = 500

async function forEach(
  values: readonly string[],
  statement: (list: RawBuilder<unknown>) => Promise<QueryResult<unknown>>,
): Promise<number> {
  let changed = 0
  for (let first = 0; first < values.length; first += MAX_KEYS_PER_STATEMENT) {
    const some = values.slice(first, first + MAX_KEYS_PER_STATEMENT)
    const { numAffectedRows = 0n } = await statement(sql.join(some))
    changed += Number(numAffectedRows)
  }
  return changed
}
