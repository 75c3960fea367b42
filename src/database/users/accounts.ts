import { type RawBuilder, sql } from 'kysely'
import type {
  Account,
  AccountLedger,
  AccountPage,
  CapacityReport,
  Usage,
} from '../../core/users/account-ledger.ts'
import { DEVICE } from '../../core/quota/grants.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { isInRange } from '../prefix-range.ts'
import { allowanceOf } from '../ledger/counted-bytes.ts'
import type { QuotaRow } from '../schema.ts'
import { toGrant } from '../quota/grants.ts'
import {
  DEVICE_COLUMNS,
  type DeviceRow,
  joinDevices,
  reportDevices,
  toDeviceUsage,
} from '../quota/device-report.ts'
import {
  capacityInForce,
  createdAt,
  findAccount,
  isInForce,
  type LedgerTx,
} from '../ledger/ledger-sql.ts'
import { type AccountRow, toAccount, USAGE_COLUMNS, usageIn } from '../ledger/rows.ts'
import type { Operations } from '../operations/operation.ts'

export const ACCOUNT_OPERATIONS = {
  findAccount: { through: 'query', run: findAccount, effect: 'reads' },
  listAccounts: { through: 'readInOrder', run: listAccounts, effect: 'reads' },
  reportCapacity: { through: 'query', run: reportCapacity, effect: 'reads' },
  reportDevices: { through: 'query', run: reportDevices, effect: 'reads' },
} as const satisfies Operations<AccountLedger>

/** Pages users before the LEFT JOIN: PostgreSQL might otherwise read all later quotas for a merge join. */
async function listAccounts(
  { db, capacity }: LedgerTx,
  page: AccountPage,
): Promise<readonly Account[]> {
  const order = ORDER[page.order ?? 'user_id']
  const { rows } = await sql<AccountRow>`
    WITH page AS MATERIALIZED (
      SELECT * FROM users WHERE ${isBeyond(page)} ORDER BY ${order} LIMIT ${page.limit}
    )
    SELECT page.*, ${USAGE_COLUMNS}, ${capacity} AS capacity
    FROM page LEFT JOIN quotas ON quotas.user_id = page.id
    ORDER BY ${order}
  `.execute(db)
  return rows.map(toAccount)
}

const ORDER = {
  user_id: sql`id`,
  created_at: sql`created_at, id`,
  '-created_at': sql`created_at DESC, id DESC`,
} as const

/** SQL for the users after the position. */
function isBeyond(page: AccountPage): RawBuilder<unknown> {
  if ('prefix' in page) {
    return isInRange(sql`id`, { prefix: page.prefix, after: page.after ?? '' })
  }
  if (page.after === undefined) return sql`created_at >= 0`
  const beyond = page.order === 'created_at' ? sql`>` : sql`<`
  return sql`(created_at, id) ${beyond} (${page.after.createdAt}, ${page.after.userId})`
}

type ReportRow = Usage &
  Pick<QuotaRow, 'history_bytes' | 'history_count'> & {
    readonly allowance: number
    readonly oldest_at: number | null
  } & { [column in keyof DeviceRow]: DeviceRow[column] | null }

/** Reads the time once, so that the grants match the capacity. */
async function reportCapacity(
  tx: LedgerTx,
  userId: UserId,
  userCreatedAt?: number,
): Promise<CapacityReport | undefined> {
  const { db, now, baseCapacity, historyShare } = tx
  const capacity = capacityInForce(sql`instant`, baseCapacity)
  const { rows } = await sql<ReportRow>`
    WITH moment AS MATERIALIZED (SELECT ${now} AS instant),
    figures AS MATERIALIZED (
      SELECT quotas.*, instant, ${capacity} AS capacity, ${allowanceOf({ capacity, historyShare })} AS allowance,
        (SELECT MIN(ended_at) FROM history WHERE history.user_id = quotas.user_id) AS oldest_at
      FROM moment CROSS JOIN quotas JOIN users ON users.id = quotas.user_id
      WHERE quotas.user_id = ${userId} AND status <> 'deleted' ${createdAt(userCreatedAt)}
    )
    SELECT ${USAGE_COLUMNS}, capacity, history_bytes, history_count, allowance, oldest_at, grants.*,
      ${DEVICE_COLUMNS}
    FROM figures LEFT JOIN grants
      ON grants.user_id = figures.user_id AND ${isInForce(sql`instant`)}
      ${joinDevices(userId)}
    ORDER BY source, reference
  `.execute(db)
  const [first] = rows
  if (first === undefined) return undefined
  const granted = rows.filter(hasGrant)
  const { history_bytes: used, history_count: count, allowance, oldest_at: oldestAt } = first
  return {
    usage: usageIn(first),
    history: { used, allowance, count, oldestAt: oldestAt ?? undefined },
    baseCapacity,
    grants: granted.map(toGrant),
    devices: granted.filter(({ source }) => source === DEVICE).map(toDeviceUsage),
  }
}

function hasGrant(row: ReportRow): row is ReportRow & DeviceRow {
  return row.source !== null
}
