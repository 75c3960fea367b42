import { sql } from 'kysely'
import { type File, NEVER } from '../../core/files/file.ts'
import type { SweepLedger } from '../../core/sweep/sweep-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { safeNow } from '../clock/safe-now.ts'
import { applyChanges } from '../ledger/apply-changes.ts'
import { type Clock, type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'

/** The first condition is that of the indexes. */
function isOver(clock: Clock) {
  return sql<boolean>`(files.expires_at < ${sql.lit(NEVER)} AND files.expires_at <= ${safeNow(clock)})`
}

export async function listUsersWithExpired(
  tx: LedgerTx,
  { except, limit }: Parameters<SweepLedger['listUsersWithExpired']>[0],
): Promise<readonly UserId[]> {
  const ofOthers = except.length === 0 ? sql`` : sql`AND user_id NOT IN (${sql.join(except)})`
  const { rows } = await sql<{ readonly user_id: UserId }>`
    SELECT DISTINCT user_id FROM (
      SELECT user_id FROM files WHERE ${isOver(tx)} ${ofOthers} AND EXISTS (
        SELECT 1 FROM users WHERE users.id = files.user_id AND status <> 'deleted'
      ) ORDER BY expires_at LIMIT ${limit}
    ) AS expired
  `.execute(tx.db)
  return rows.map((row) => row.user_id)
}

export async function expireFiles(
  tx: LedgerTx,
  { userId, limit, garbageDelayMs }: Parameters<SweepLedger['expireFiles']>[0],
): Promise<number> {
  await lockUser(tx, userId)
  const { rows } = await sql<File & { readonly now: number }>`
    SELECT ${FILE_COLUMNS}, ${tx.now} AS now FROM files JOIN users ON users.id = files.user_id AND status <> 'deleted'
    WHERE files.user_id = ${userId} AND ${isOver(tx)} ORDER BY files.expires_at LIMIT ${limit}
  `.execute(tx.db)
  const [first] = rows
  if (first === undefined) return 0
  const { now } = first
  const changes = rows.map(({ now: _now, ...old }) => ({ type: 'expired', old }) as const)
  await applyChanges(tx, { userId, userCreatedAt: 0, changes, now, garbageDelayMs, by: 'sweep' })
  return rows.length
}
