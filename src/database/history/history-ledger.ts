import { type RawBuilder, sql } from 'kysely'
import type { Deletion, DropVersion, HistoryLedger } from '../../core/history/history-ledger.ts'
import { versionNotFound } from '../../core/history/past-version.ts'
import { markerKey } from '../../core/objects/object-key.ts'
import type { Caller } from '../../core/users/caller.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { inactiveReason, type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import type { Session } from '../ledger/session.ts'
import {
  discardMarkers,
  dropVersions,
  listUsersToTrim,
  ofVersions,
  trimHistory,
  versionsToDrop,
} from './drop.ts'
import { findPast, findPastVersion, listHistory } from './past-versions.ts'
import { restoreVersion } from './restore.ts'

export function createHistoryLedger(session: Session): HistoryLedger {
  const { change, query, readInOrder, transaction, userSemaphore } = session
  /** As `change`, for statements of any number of rows: none is prepared. */
  const changeRows = <T>(userId: UserId, work: (tx: LedgerTx) => Promise<T>): Promise<T> =>
    userSemaphore(userId, () =>
      transaction(async (tx) => {
        await lockUser(tx, userId)
        return await work(tx)
      }),
    )
  return {
    listHistory: (page) => readInOrder((tx) => listHistory(tx, page)),
    findPastVersion: (version) => query((tx) => findPastVersion(tx, version)),
    restoreVersion: (restore) => change(restore.userId, (tx) => restoreVersion(tx, restore)),
    dropVersion: (drop) => changeRows(drop.userId, (tx) => dropVersion(tx, drop)),
    dropHistory: (page) => changeRows(page.userId, (tx) => dropHistory(tx, page)),
    listUsersToTrim: (options) => query((tx) => listUsersToTrim(tx, options)),
    trimHistory: (trim) => changeRows(trim.userId, (tx) => trimHistory(tx, trim)),
    listUnmarked: (options) => query((tx) => listUnmarked(tx, options)),
    journalMarkers: ({ userId, deletions }) =>
      changeRows(userId, (tx) => discardMarkers(tx, { userId, keys: keysOf(deletions) })),
    recordMarkers: (marked) => changeRows(marked.userId, (tx) => recordMarkers(tx, marked)),
  }
}

const keysOf = (deletions: readonly Deletion[]) => deletions.map(({ objectKey }) => objectKey)

async function dropVersion(tx: LedgerTx, drop: DropVersion): Promise<void> {
  const { userId, version, garbageDelayMs } = drop
  await requireActive(tx, drop)
  const found = await findPast(tx, drop)
  if (found === undefined) throw versionNotFound()
  const rows = await versionsToDrop(tx, { userId, limit: 1, where: ofVersions([version]) })
  await dropVersions(tx, { userId, rows, garbageDelayMs })
}

async function dropHistory(
  tx: LedgerTx,
  page: Parameters<HistoryLedger['dropHistory']>[0],
): Promise<number> {
  const { userId, limit, garbageDelayMs } = page
  await requireActive(tx, page)
  const rows = await versionsToDrop(tx, { userId, limit })
  return await dropVersions(tx, { userId, rows, garbageDelayMs })
}

async function requireActive(tx: LedgerTx, caller: Caller): Promise<void> {
  const reason = await inactiveReason(tx, caller)
  if (reason !== undefined) throw reason
}

async function listUnmarked(
  { db }: LedgerTx,
  { except, limit }: Parameters<HistoryLedger['listUnmarked']>[0],
): Promise<readonly Deletion[]> {
  const ofOthers: RawBuilder<unknown> =
    except.length === 0 ? sql`` : sql`AND user_id NOT IN (${sql.join(except)})`
  const { rows } = await sql<Deletion>`
    SELECT user_id AS "userId", version, object_key AS "objectKey" FROM history
    WHERE ended_as = 'deleted' AND is_marked = 0 ${ofOthers} ORDER BY ended_at LIMIT ${limit}
  `.execute(db)
  return rows
}

async function recordMarkers(
  tx: LedgerTx,
  { userId, deletions }: Parameters<HistoryLedger['recordMarkers']>[0],
): Promise<void> {
  if (deletions.length === 0) return
  const versions = deletions.map(({ version }) => version)
  const { rows } = await sql<Pick<Deletion, 'objectKey'>>`
    UPDATE history SET is_marked = 1 WHERE ${ofVersions(versions)} AND user_id = ${userId}
      AND ended_as = 'deleted'
    RETURNING object_key AS "objectKey"
  `.execute(tx.db)
  if (rows.length === 0) return
  const keys = rows.map(({ objectKey }) => markerKey(objectKey))
  await sql`DELETE FROM garbage WHERE object_key IN (${sql.join(keys)})`.execute(tx.db)
}
