import { type RawBuilder, sql } from 'kysely'
import type { HistoryLedger } from '../../core/history/history-ledger.ts'
import type { ObjectKey, Version } from '../../core/objects/object-key.ts'
import { RETENTION_MS } from '../../core/sweep/sweep-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import { discardObjects } from '../ledger/garbage.ts'
import { countHistory, excessOf, OBJECT_OVERHEAD_BYTES } from '../ledger/counted-bytes.ts'
import { deletePast } from '../ledger/write-rows.ts'
import type { HistoryRow } from '../schema.ts'
import { discardMarkers, postponeMarkers } from './markers.ts'
import { isExpired } from './past-versions.ts'

interface Dropped {
  readonly userId: UserId
  readonly rows: readonly DroppedRow[]
  readonly garbageDelayMs: number
  /** Whether the objects count as garbage of the user; they do by default. */
  readonly counts?: boolean
}

export type DroppedRow = Pick<HistoryRow, 'version' | 'object_key' | 'size' | 'is_marked'>

interface OldestRow extends DroppedRow {
  readonly is_expired: number
}

/** Under the user's lock. */
export async function dropVersions(tx: LedgerTx, dropped: Dropped): Promise<number> {
  const { userId, rows, garbageDelayMs, counts = true } = dropped
  if (rows.length === 0) return 0
  const owner = counts ? userId : null
  await discardObjects(
    tx,
    rows.map((row) => ({
      objectKey: row.object_key,
      userId: owner,
      size: row.size,
      garbageDelayMs,
    })),
  )
  // Not before the object: a rebuild would take it for the file.
  const delayMs = Math.max(garbageDelayMs, RETENTION_MS)
  await discardMarkers(tx, { userId: owner, keys: rows.filter(isMarked).map(keyOf), delayMs })
  const unmarked = rows.filter((row) => !isMarked(row))
  await postponeMarkers(tx, { keys: unmarked.map(keyOf), delayMs })
  await deletePast(
    tx,
    rows.map(({ version }) => version),
  )
  const bytes = rows.reduce((sum, { size }) => sum + size + OBJECT_OVERHEAD_BYTES, 0)
  const counted = countHistory(tx, { bytes: sql`${-bytes}`, versions: sql`${-rows.length}` })
  await sql`UPDATE quotas SET ${counted} WHERE user_id = ${userId}`.execute(tx.db)
  return rows.length
}

const isMarked = (row: DroppedRow): boolean => row.is_marked === 1
const keyOf = (row: DroppedRow): ObjectKey => row.object_key

interface Selected {
  readonly userId: UserId
  readonly limit: number
  readonly where?: RawBuilder<unknown>
}

/** Oldest end first. */
export async function versionsToDrop(
  tx: LedgerTx,
  { userId, limit, where = sql`1 = 1` }: Selected,
): Promise<readonly OldestRow[]> {
  const { rows } = await sql<OldestRow>`
    SELECT version, object_key, size, is_marked,
      CASE WHEN ${isExpired(tx)} THEN 1 ELSE 0 END AS is_expired
    FROM history
    WHERE user_id = ${userId} AND ${where} ORDER BY ended_at, version LIMIT ${limit}
  `.execute(tx.db)
  return rows
}

export async function listUsersToTrim(
  tx: LedgerTx,
  { except, limit }: Parameters<HistoryLedger['listUsersToTrim']>[0],
): Promise<readonly UserId[]> {
  const ofOthers = except.length === 0 ? sql`` : sql`AND user_id NOT IN (${sql.join(except)})`
  const { rows } = await sql<{ readonly user_id: UserId }>`
    SELECT user_id FROM (
      SELECT user_id FROM quotas WHERE history_excess > 0 ${ofOthers} ORDER BY user_id LIMIT ${limit}
    ) AS beyond
    UNION
    SELECT user_id FROM (
      SELECT user_id FROM history WHERE ${isExpired(tx)} ${ofOthers} ORDER BY ended_at LIMIT ${limit}
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
  const excess = await noteExcess(tx, userId)
  const oldest = await versionsToDrop(tx, { userId, limit })
  // Only if the figures have drifted: the user would be listed for ever.
  if (excess > 0 && oldest.length === 0) await clearExcess(tx, userId)
  return await dropVersions(tx, { userId, rows: expiredOrBeyond(oldest, excess), garbageDelayMs })
}

/** Those that have expired, and the first others until all dropped hold at least `excess` bytes. Oldest end first. */
function expiredOrBeyond(rows: readonly OldestRow[], excess: number): readonly OldestRow[] {
  let left = excess
  return rows.filter(({ size, is_expired: expired }) => {
    if (expired === 0 && left <= 0) return false
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

/** As a deleted user's garbage, what it drops counts against nobody. */
export async function dropPurged(
  tx: LedgerTx,
  { userId, limit, garbageDelayMs }: Parameters<HistoryLedger['trimHistory']>[0],
): Promise<number> {
  const rows = await versionsToDrop(tx, { userId, limit })
  return await dropVersions(tx, { userId, rows, garbageDelayMs, counts: false })
}

export function ofVersions(versions: readonly Version[]): RawBuilder<unknown> {
  return sql`version IN (${sql.join(versions)})`
}
