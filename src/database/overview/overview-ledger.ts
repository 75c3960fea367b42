import { type RawBuilder, sql } from 'kysely'
import {
  type DailyUsage,
  type MeasuredUsers,
  NOTHING,
  type OverviewLedger,
  type Totals,
} from '../../core/overview/overview-ledger.ts'
import type { Account } from '../../core/users/account-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { safeNow } from '../ledger/safe-now.ts'
import { bigint, type LedgerTx } from '../ledger/ledger-sql.ts'
import { type AccountRow, toAccount, USAGE_COLUMNS } from '../ledger/rows.ts'
import type { Operations } from '../operations/operation.ts'

export const OVERVIEW_OPERATIONS = {
  measureUsers: { through: 'query', run: measureUsers, effect: 'reads' },
  listDailyUsage: { through: 'query', run: listDailyUsage, effect: 'reads' },
  // One row a day.
  recordDailyUsage: { through: 'transaction', run: recordDailyUsage, effect: 'frees' },
} as const satisfies Operations<OverviewLedger>

type Page = Parameters<OverviewLedger['measureUsers']>[0]

/** The users after the first id, up to the second. */
interface Range {
  readonly after: UserId | undefined
  readonly last: UserId
}

async function measureUsers(tx: LedgerTx, { after, limit, top }: Page): Promise<MeasuredUsers> {
  const { count, last, at } = await endOf(tx, { after, limit })
  if (last === null) return { totals: NOTHING, largest: [], fullest: [], at, last: undefined }
  const range = { after, last }
  const totals = await sumUsers(tx, range)
  const isRanked = top > 0 && totals.files > 0
  return {
    totals,
    largest: isRanked ? await largestOf(tx, { range, top }) : [],
    fullest: isRanked ? await fullestOf(tx, { range, top }) : [],
    at,
    last: count < limit ? undefined : last,
  }
}

interface EndRow {
  readonly count: number
  readonly last: UserId | null
  readonly at: number
}

/** A statement of its own: with both ends of the range, no plan of the others reads more of any table. */
async function endOf(
  { db, now }: LedgerTx,
  { after, limit }: Pick<Page, 'after' | 'limit'>,
): Promise<EndRow> {
  const { rows } = await sql<EndRow>`
    SELECT COUNT(*) AS count, MAX(id) AS last, ${now} AS at
    FROM (SELECT id FROM users WHERE id > ${after ?? ''} ORDER BY id LIMIT ${limit}) AS page
  `.execute(db)
  return rows[0] ?? { count: 0, last: null, at: 0 }
}

async function sumUsers({ db }: LedgerTx, range: Range): Promise<Totals> {
  const sumOf = (figure: RawBuilder<unknown>) => sql`CAST(COALESCE(SUM(${figure}), 0) AS BIGINT)`
  const { rows } = await sql<Totals>`
    SELECT COUNT(*) - ${countWith('suspended', range)} AS active,
      ${countWith('suspended', range)} AS suspended, ${countWith('deleted', range)} AS deleted,
      ${sumOf(sql`file_count`)} AS files, ${sumOf(sql`used_bytes`)} AS used,
      ${sumOf(sql`reserved_bytes`)} AS reserved, ${sumOf(sql`garbage_bytes`)} AS garbage,
      ${sumOf(sql`history_bytes`)} AS history, ${sumOf(sql`history_count`)} AS versions,
      ${sumOf(sql`change_count - delivered`)} AS undelivered
    FROM quotas LEFT JOIN webhook_queues
      ON webhook_queues.user_id = quotas.user_id AND ${isIn(sql`webhook_queues.user_id`, range)}
    WHERE ${isLiving(range)}
  `.execute(db)
  return rows[0] ?? NOTHING
}

/** By the index of the status, so that no row of other users is read. */
function countWith(status: 'suspended' | 'deleted', range: Range): RawBuilder<number> {
  return sql<number>`(
    SELECT COUNT(*) FROM users WHERE status = ${sql.lit(status)} AND ${isIn(sql`users.id`, range)}
  )`
}

/** SQL for whether the `quotas` row is of a user in the range who is not deleted. */
function isLiving(range: Range): RawBuilder<boolean> {
  const deleted = sql`SELECT id FROM users WHERE status = 'deleted' AND ${isIn(sql`users.id`, range)}`
  return sql<boolean>`${isIn(sql`quotas.user_id`, range)} AND quotas.user_id NOT IN (${deleted})`
}

function isIn(id: RawBuilder<unknown>, { after, last }: Range): RawBuilder<boolean> {
  return sql<boolean>`${id} > ${after ?? ''} AND ${id} <= ${last}`
}

interface Best {
  readonly range: Range
  readonly top: number
}

/** The capacity is computed only for those that are returned. */
async function largestOf(
  { db, capacity }: LedgerTx,
  { range, top }: Best,
): Promise<readonly Account[]> {
  const { rows } = await sql<AccountRow>`
    SELECT users.*, ${USAGE_COLUMNS}, ${capacity} AS capacity
    FROM (
      SELECT user_id, used_bytes, reserved_bytes, file_count FROM quotas
      WHERE used_bytes > 0 AND ${isLiving(range)}
      ORDER BY used_bytes DESC, user_id LIMIT ${top}
    ) AS quotas JOIN users ON users.id = quotas.user_id
    ORDER BY used_bytes DESC, id
  `.execute(db)
  return rows.map(toAccount)
}

/** In the order of `shareUsed`. Materialized, so that each capacity is computed once. */
async function fullestOf(
  { db, capacity }: LedgerTx,
  { range, top }: Best,
): Promise<readonly Account[]> {
  const share = sql`CASE WHEN capacity > 0 THEN CAST(used AS DOUBLE PRECISION) / capacity END`
  const order = sql`CASE WHEN capacity > 0 THEN 0 ELSE 1 END DESC, ${share} DESC`
  const { rows } = await sql<AccountRow>`
    WITH accounts AS MATERIALIZED (
      SELECT user_id, ${USAGE_COLUMNS}, ${capacity} AS capacity FROM quotas
      WHERE used_bytes > 0 AND ${isLiving(range)}
    )
    SELECT users.*, used, reserved, "fileCount", capacity
    FROM (SELECT * FROM accounts ORDER BY ${order}, user_id LIMIT ${top}) AS fullest
      JOIN users ON users.id = fullest.user_id
    ORDER BY ${order}, id
  `.execute(db)
  return rows.map(toAccount)
}

async function listDailyUsage(
  { db, now }: LedgerTx,
  days: number,
): ReturnType<OverviewLedger['listDailyUsage']> {
  const { rows } = await sql<{ readonly at: number } & Nullable<DailyUsage>>`
    SELECT at, day, users, files, used_bytes AS used
    FROM (SELECT ${now} AS at) AS moment
    LEFT JOIN daily_usage ON day <= at AND day > at - ${days * DAY_MS}
    ORDER BY day
  `.execute(db)
  const [{ at } = { at: 0 }] = rows
  const kept = rows.flatMap(({ day, users, files, used }) =>
    day === null ? [] : { day, users: users ?? 0, files: files ?? 0, used: used ?? 0 },
  )
  return { today: at - (at % DAY_MS), rows: kept }
}

type Nullable<T> = { readonly [member in keyof T]: T[member] | null }

const DAY_MS = 24 * 60 * 60_000

async function recordDailyUsage(
  { db, now }: LedgerTx,
  { usage, keptDays }: Parameters<OverviewLedger['recordDailyUsage']>[0],
): Promise<void> {
  const { day, users, files, used } = usage
  await sql`
    INSERT INTO daily_usage (day, users, files, used_bytes) VALUES (${day}, ${users}, ${files}, ${used})
    ON CONFLICT (day) DO NOTHING
  `.execute(db)
  const keptMs = keptDays * DAY_MS
  await sql`
    DELETE FROM daily_usage WHERE day < ${day - keptMs} AND day < ${safeNow({ now })} - ${bigint(keptMs)}
  `.execute(db)
}
