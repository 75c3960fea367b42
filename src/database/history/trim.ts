import { sql } from 'kysely'
import type { HistoryLedger } from '../../core/history/history-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { excessOf, OBJECT_OVERHEAD_BYTES } from '../ledger/counted-bytes.ts'
import { safeNow } from '../clock/safe-now.ts'
import { capacityByAnyClock, type LedgerTx } from '../ledger/ledger-sql.ts'
import { type DroppedRow, dropVersions, versionsToDrop } from './drop.ts'
import { hasOutlived, isOver } from './past-versions.ts'

export async function listUsersToTrim(
  tx: LedgerTx,
  { except, limit }: Parameters<HistoryLedger['listUsersToTrim']>[0],
): Promise<readonly UserId[]> {
  const safe = bySafeTime(tx)
  const ofOthers = except.length === 0 ? sql`` : sql`AND user_id NOT IN (${sql.join(except)})`
  const { rows } = await sql<{ readonly user_id: UserId }>`
    SELECT user_id FROM (
      SELECT user_id FROM quotas WHERE history_excess > 0 ${ofOthers} ORDER BY user_id LIMIT ${limit}
    ) AS beyond
    UNION
    SELECT user_id FROM (
      SELECT user_id FROM history WHERE ${hasOutlived(safe)} ${ofOthers} ORDER BY ended_at LIMIT ${limit}
    ) AS outlived
    UNION
    SELECT user_id FROM (
      SELECT user_id FROM history WHERE ${isOver(safe)} ${ofOthers} ORDER BY expires_at LIMIT ${limit}
    ) AS expired
    LIMIT ${limit}
  `.execute(tx.db)
  return rows.map((row) => row.user_id)
}

/** Under the user's lock. */
export async function trimHistory(
  tx: LedgerTx,
  { userId, limit, garbageDelayMs }: Parameters<HistoryLedger['trimHistory']>[0],
): Promise<number> {
  const expired = await expiredVersions(tx, { userId, limit })
  const dropped = await dropVersions(tx, { userId, rows: expired, garbageDelayMs })
  if (dropped === limit) return dropped
  const excess = await noteExcess({ ...tx, capacity: capacityByAnyClock(tx) }, userId)
  if (excess === 0) return dropped
  const oldest = await versionsToDrop(tx, { userId, limit: limit - dropped })
  // Only if the figures have drifted: the user would be listed for ever.
  if (oldest.length === 0) await clearExcess(tx, userId)
  const rows = worth(oldest, excess)
  return dropped + (await dropVersions(tx, { userId, rows, garbageDelayMs }))
}

function bySafeTime(tx: LedgerTx): LedgerTx {
  return { ...tx, now: safeNow(tx) }
}

interface Page {
  readonly userId: UserId
  readonly limit: number
}

async function expiredVersions(tx: LedgerTx, page: Page): Promise<readonly DroppedRow[]> {
  const safe = bySafeTime(tx)
  const outlived = await versionsToDrop(tx, { ...page, where: hasOutlived(safe) })
  const limit = page.limit - outlived.length
  if (limit === 0) return outlived
  const where = sql`${isOver(safe)} AND NOT ${hasOutlived(safe)}`
  const order = sql`expires_at`
  return [...outlived, ...(await versionsToDrop(tx, { ...page, limit, where, order }))]
}

/** The first ones that hold at least as many bytes, or all. */
function worth<T extends DroppedRow>(rows: readonly T[], bytes: number): readonly T[] {
  let left = bytes
  return rows.filter(({ size }) => {
    if (left <= 0) return false
    left -= size + OBJECT_OVERHEAD_BYTES
    return true
  })
}

/** Records, under the user's lock, by how much the history exceeds the allowance, and returns it. */
export async function noteExcess(tx: LedgerTx, userId: UserId): Promise<number> {
  const { rows } = await sql<{ readonly history_excess: number }>`
    UPDATE quotas SET history_excess = ${excessOf(tx, sql`history_bytes`)}
    WHERE user_id = ${userId} RETURNING history_excess
  `.execute(tx.db)
  return rows[0]?.history_excess ?? 0
}

async function clearExcess({ db }: LedgerTx, userId: UserId): Promise<void> {
  await sql`UPDATE quotas SET history_excess = 0 WHERE user_id = ${userId}`.execute(db)
}
