import { sql } from 'kysely'
import type {
  Account,
  AccountLedger,
  AccountPage,
  CapacityReport,
  Usage,
} from '../../core/users/account-ledger.ts'
import type { FindFile } from '../../core/files/file-ledger.ts'
import { isInRange } from '../prefix-range.ts'
import type { GrantRow } from '../schema.ts'
import { toGrant } from './grants.ts'
import {
  capacityInForce,
  createdAt,
  findAccount,
  isInForce,
  type LedgerTx,
} from '../ledger/ledger-sql.ts'
import { type AccountRow, toAccount, USAGE_COLUMNS, usageIn } from '../ledger/rows.ts'
import type { Session } from '../ledger/session.ts'

export function createAccountLedger({ query, readInOrder }: Session): AccountLedger {
  return {
    findAccount: (userId) => query((tx) => findAccount(tx, userId)),
    listAccounts: (page) => readInOrder((tx) => listAccounts(tx, page)),
    reportCapacity: (userId, userCreatedAt) =>
      query((tx) => reportCapacity(tx, { userId, userCreatedAt })),
  }
}

/** Pages users before the LEFT JOIN: PostgreSQL might otherwise read all later quotas for a merge join. */
async function listAccounts(
  { db, capacity }: LedgerTx,
  { prefix, after, limit }: AccountPage,
): Promise<readonly Account[]> {
  const { rows } = await sql<AccountRow>`
    WITH page AS MATERIALIZED (
      SELECT * FROM users WHERE ${isInRange(sql`id`, { prefix, after: after ?? '' })}
      ORDER BY id LIMIT ${limit}
    )
    SELECT page.*, ${USAGE_COLUMNS}, ${capacity} AS capacity
    FROM page LEFT JOIN quotas ON quotas.user_id = page.id
    ORDER BY page.id
  `.execute(db)
  return rows.map(toAccount)
}

type ReportRow = Usage & { [column in keyof GrantRow]: GrantRow[column] | null }

/** Reads the time once, so that the grants match the capacity. */
async function reportCapacity(
  { db, now, baseCapacity }: LedgerTx,
  { userId, userCreatedAt }: Pick<FindFile, 'userId' | 'userCreatedAt'>,
): Promise<CapacityReport | undefined> {
  const { rows } = await sql<ReportRow>`
    WITH moment AS MATERIALIZED (SELECT ${now} AS instant),
    figures AS MATERIALIZED (
      SELECT quotas.*, instant, ${capacityInForce(sql`instant`, baseCapacity)} AS capacity
      FROM moment CROSS JOIN quotas JOIN users ON users.id = quotas.user_id
      WHERE quotas.user_id = ${userId} AND status <> 'deleted' ${createdAt(userCreatedAt)}
    )
    SELECT ${USAGE_COLUMNS}, capacity, grants.*
    FROM figures LEFT JOIN grants
      ON grants.user_id = figures.user_id AND ${isInForce(sql`instant`)}
    ORDER BY source, reference
  `.execute(db)
  if (rows[0] === undefined) return undefined
  return { usage: usageIn(rows[0]), baseCapacity, grants: rows.filter(hasGrant).map(toGrant) }
}

function hasGrant(row: ReportRow): row is ReportRow & GrantRow {
  return row.source !== null
}
