import { type RawBuilder, sql } from 'kysely'
import type { HistoryLedger, Unmarked } from '../../core/history/history-ledger.ts'
import { markerKey, type ObjectKey } from '../../core/objects/object-key.ts'
import { RETENTION_MS } from '../../core/sweep/sweep-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { insertion } from '../ledger/insert-rows.ts'
import { bigint, type LedgerTx } from '../ledger/ledger-sql.ts'
import { OBJECT_OVERHEAD_BYTES } from '../ledger/counted-bytes.ts'

// A put of a marker can still reach the store for `RETENTION_MS`, so no marker is removed earlier. Nor is one removed
// before the object that it marks: a rebuild would take that for a file.

interface Discarded {
  readonly userId: UserId | null
  /** Of the objects that are marked. */
  readonly keys: readonly ObjectKey[]
  readonly delayMs?: number
}

export async function discardMarkers(
  tx: LedgerTx,
  { userId, keys, delayMs = RETENTION_MS }: Discarded,
): Promise<void> {
  const rows = keys.map((key) => ({ key: markerKey(key), delayMs, userId }))
  await insertMarkers(tx, rows)
}

type Marker = Required<Pick<Discarded, 'userId' | 'delayMs'>> & {
  readonly key: ObjectKey
}

/** Postpones the removal of those that are garbage already. */
const insertMarkers = insertion<Marker>(
  ['key', 'delayMs', 'userId'],
  (slot, { now }) => sql`
    (${slot('key')}, ${now} + ${bigint(slot('delayMs'))}, ${slot('userId')},
     ${sql.lit(OBJECT_OVERHEAD_BYTES)})
  `,
  (rows) => sql`
    INSERT INTO garbage (object_key, not_before, user_id, bytes) VALUES ${rows}
    ON CONFLICT (object_key) DO UPDATE
    SET not_before = excluded.not_before WHERE garbage.not_before < excluded.not_before
  `,
)

/** For those that are journaled, but not yet recorded. */
export async function postponeMarkers(
  { db, now }: LedgerTx,
  { keys, delayMs }: { readonly keys: readonly ObjectKey[]; readonly delayMs: number },
): Promise<void> {
  if (keys.length === 0) return
  await sql`
    UPDATE garbage SET not_before = ${now} + ${delayMs}
    WHERE object_key IN (${sql.join(keys.map(markerKey))}) AND not_before < ${now} + ${delayMs}
  `.execute(db)
}

export async function listUnmarked(
  { db }: LedgerTx,
  { except, limit }: Parameters<HistoryLedger['listUnmarked']>[0],
): Promise<readonly Unmarked[]> {
  const ofOthers = except.length === 0 ? sql`` : sql`AND user_id NOT IN (${sql.join(except)})`
  const { rows } = await sql<Unmarked>`
    SELECT ${UNMARKED} FROM history WHERE is_marked = 0 ${ofOthers}
    ORDER BY ended_as, ended_at LIMIT ${limit}
  `.execute(db)
  return rows
}

const UNMARKED = sql`
  user_id AS "userId", version, object_key AS "objectKey", ended_as AS "endedAs"
`

type Marked = Parameters<HistoryLedger['journalMarkers']>[0]

function isOneOf({ userId, versions }: Marked): RawBuilder<boolean> {
  const ids = sql.join(versions.map(({ version }) => version))
  return sql<boolean>`(version IN (${ids}) AND user_id = ${userId})`
}

/** Under the user's lock, as `recordMarkers`. */
export async function journalMarkers(tx: LedgerTx, marked: Marked): Promise<readonly Unmarked[]> {
  if (marked.versions.length === 0) return []
  const { rows } = await sql<Unmarked>`
    SELECT ${UNMARKED} FROM history WHERE ${isOneOf(marked)}
  `.execute(tx.db)
  const { userId } = marked
  await discardMarkers(tx, { userId, keys: rows.map(({ objectKey }) => objectKey) })
  return rows
}

export async function recordMarkers(tx: LedgerTx, marked: Marked): Promise<void> {
  if (marked.versions.length === 0) return
  const { rows } = await sql<Pick<Unmarked, 'objectKey'>>`
    UPDATE history SET is_marked = 1 WHERE ${isOneOf(marked)} RETURNING object_key AS "objectKey"
  `.execute(tx.db)
  if (rows.length === 0) return
  const keys = rows.map(({ objectKey }) => markerKey(objectKey))
  await sql`DELETE FROM garbage WHERE object_key IN (${sql.join(keys)})`.execute(tx.db)
}
