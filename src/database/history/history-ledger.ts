import { sql } from 'kysely'
import type { DropVersion, HistoryLedger } from '../../core/history/history-ledger.ts'
import { versionNotFound } from '../../core/history/past-version.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { restoreVersion } from '../files/change-files.ts'
import { type LedgerTx, lockUser, requireActive } from '../ledger/ledger-sql.ts'
import type { Session } from '../ledger/session.ts'
import { dropVersions, ofVersions, versionsToDrop } from './drop.ts'
import { findPast, findPastVersion, listHistory } from './past-versions.ts'
import { listUsersToTrim, trimHistory } from './trim.ts'

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
    listUsersToTrim: (options) => readInOrder((tx) => listUsersToTrim(tx, options)),
    trimHistory: (trim) => changeRows(trim.userId, (tx) => trimHistory(tx, trim)),
  }
}

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
  const { userId, endedBy, limit, garbageDelayMs } = page
  await requireActive(tx, page)
  const where = sql`ended_at <= ${endedBy}`
  const rows = await versionsToDrop(tx, { userId, limit, where })
  return await dropVersions(tx, { userId, rows, garbageDelayMs })
}
