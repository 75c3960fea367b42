import { sql } from 'kysely'
import type { FindPastVersion, HistoryLedger } from '../../core/history/history-ledger.ts'
import { versionNotFound } from '../../core/history/past-version.ts'
import { restoreVersion } from '../files/change-files.ts'
import { type LedgerTx, lockUser, requireActive } from '../ledger/ledger-sql.ts'
import type { Operations } from '../ledger/operation.ts'
import { dropVersions, ofVersions, versionsToDrop } from './drop.ts'
import { findPast, findPastVersion, listHistory } from './past-versions.ts'
import { listUsersToTrim, trimHistory } from './trim.ts'

export const HISTORY_OPERATIONS = {
  listHistory: { through: 'readInOrder', run: listHistory, effect: 'reads' },
  findPastVersion: { through: 'query', run: findPastVersion, effect: 'reads' },
  restoreVersion: { through: 'change', run: restoreVersion, effect: 'grows' },
  dropVersion: { through: 'changeRows', run: dropVersion, effect: 'frees' },
  dropHistory: { through: 'changeRows', run: dropHistory, effect: 'frees' },
  listUsersToTrim: { through: 'readInOrder', run: listUsersToTrim, effect: 'reads' },
  trimHistory: { through: 'changeRows', run: trimHistory, effect: 'frees' },
} as const satisfies Operations<HistoryLedger>

async function dropVersion(tx: LedgerTx, drop: FindPastVersion): Promise<void> {
  const { userId, version } = drop
  await lockUser(tx, userId)
  await requireActive(tx, drop)
  const found = await findPast(tx, drop)
  if (found === undefined) throw versionNotFound()
  const rows = await versionsToDrop(tx, { userId, limit: 1, where: ofVersions([version]) })
  await dropVersions(tx, { userId, rows })
}

async function dropHistory(
  tx: LedgerTx,
  page: Parameters<HistoryLedger['dropHistory']>[0],
): Promise<number> {
  const { userId, endedBy, limit } = page
  await lockUser(tx, userId)
  await requireActive(tx, page)
  const where = sql`ended_at <= ${endedBy}`
  const rows = await versionsToDrop(tx, { userId, limit, where })
  return await dropVersions(tx, { userId, rows })
}
