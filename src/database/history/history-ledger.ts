import { sql } from 'kysely'
import type { FindPastVersion, HistoryLedger } from '../../core/history/history-ledger.ts'
import { versionNotFound } from '../../core/history/past-version.ts'
import { restoreVersion } from '../files/change-files.ts'
import { type LedgerTx, lockUser, requireActive } from '../ledger/ledger-sql.ts'
import type { Operations } from '../operations/operation.ts'
import { purgeVersions, ofVersions, versionsToPurge } from './purge-versions.ts'
import { findPast, findPastVersion, listHistory } from './past-versions.ts'
import { listUsersToTrim, trimHistory } from './trim.ts'

export const HISTORY_OPERATIONS = {
  listHistory: { through: 'readInOrder', run: listHistory, effect: 'reads' },
  findPastVersion: { through: 'query', run: findPastVersion, effect: 'reads' },
  restoreVersion: { through: 'change', run: restoreVersion, effect: 'grows' },
  purgeVersion: { through: 'changeRows', run: purgeVersion, effect: 'frees' },
  purgeHistory: { through: 'changeRows', run: purgeHistory, effect: 'frees' },
  listUsersToTrim: { through: 'readInOrder', run: listUsersToTrim, effect: 'reads' },
  trimHistory: { through: 'changeRows', run: trimHistory, effect: 'frees' },
} as const satisfies Operations<HistoryLedger>

async function purgeVersion(tx: LedgerTx, past: FindPastVersion): Promise<void> {
  const { userId, version } = past
  await lockUser(tx, userId)
  await requireActive(tx, past)
  const found = await findPast(tx, past)
  if (found === undefined) throw versionNotFound()
  const rows = await versionsToPurge(tx, { userId, limit: 1, where: ofVersions([version]) })
  await purgeVersions(tx, { userId, rows })
}

async function purgeHistory(
  tx: LedgerTx,
  page: Parameters<HistoryLedger['purgeHistory']>[0],
): Promise<number> {
  const { userId, endedBy, limit } = page
  await lockUser(tx, userId)
  await requireActive(tx, page)
  const where = sql`ended_at <= ${endedBy}`
  const rows = await versionsToPurge(tx, { userId, limit, where })
  return await purgeVersions(tx, { userId, rows })
}
