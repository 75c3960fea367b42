import { type Kysely, type RawBuilder, sql } from 'kysely'
import { MAX_BYTES } from '../../core/byte-size.ts'
import type { Caller } from '../../core/users/caller.ts'
import { AppError } from '../../core/errors.ts'
import type { File } from '../../core/files/file.ts'
import type { Usage } from '../../core/ledger/ledger.ts'
import { inactiveUser } from '../../core/users/caller.ts'
import { isMet, type Precondition, preconditionFailed } from '../../core/files/precondition.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { User, UserStatus } from '../../core/users/user-store.ts'
import type { Fragments } from '../database.ts'
import type { Tables, UserRow } from '../schema.ts'

/** What a statement needs that asks for the time. */
export type Clocked = Pick<LedgerTx, 'db' | 'now'>

/**
 * What one ledger method works with: its transaction, or the plain connection for a single
 * statement.
 */
export interface LedgerTx extends Fragments {
  readonly db: Kysely<Tables>
  /** What every user has without any grant, in bytes. */
  readonly baseCapacity: number
  /** The capacity in force, in bytes, of the user in the statement's row of `quotas`. */
  readonly capacity: RawBuilder<number>
}

/**
 * SQL for the sum of the base and of the grants in force, at most 2^53 - 1. The sum is not of
 * integers, because SQLite's overflows at 2^63; as far as it is below the limit it is exact on both
 * engines.
 */
export function capacityInForce(now: RawBuilder<number>, baseCapacity: number): RawBuilder<number> {
  return sql<number>`(
    SELECT CAST(CASE WHEN total > ${MAX_BYTES} THEN ${MAX_BYTES} ELSE total END AS BIGINT)
    FROM (
      SELECT ${baseCapacity} + COALESCE(SUM(bytes * 1.0), 0) AS total
      FROM grants
      WHERE grants.user_id = quotas.user_id AND ${isInForce(now)}
    ) AS granted
  )`
}

/** SQL for whether the statement's row of `grants` counts at that time. */
export function isInForce(now: RawBuilder<number>): RawBuilder<boolean> {
  return sql<boolean>`(
    grants.revoked_at IS NULL
    AND (grants.starts_at IS NULL OR grants.starts_at <= ${now})
    AND (grants.ends_at IS NULL OR grants.ends_at > ${now})
  )`
}

/**
 * Locks the user's figures until the transaction ends. Every transaction that touches a user's
 * quota, uploads, files or grants does this first, so there is one order of locks and no deadlock,
 * and what it reads afterwards stays true. The lock is a write: PostgreSQL lets the COMMIT wait for
 * a synchronous standby, so that not even reading back acknowledges what one server holds alone.
 */
export async function lockUser(
  { db, forUpdate }: Pick<LedgerTx, 'db' | 'forUpdate'>,
  userId: UserId,
): Promise<void> {
  await sql`SELECT user_id FROM quotas WHERE user_id = ${userId} ${forUpdate}`.execute(db)
}

/**
 * SQL for whether the user of the statement's row of `quotas` is active and was created at that time, so is the one who asks
 * and not the next user of the same id.
 */
export function isActive(userCreatedAt: RawBuilder<number>): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (
    SELECT 1 FROM users
    WHERE users.id = quotas.user_id AND users.status = 'active' AND users.created_at = ${userCreatedAt}
  )`
}

/** SQL for how many uploads of the user in the statement's row of `quotas` are under way at that time. */
export function runningUploads(now: RawBuilder<number>): RawBuilder<number> {
  return sql<number>`(
    SELECT COUNT(*) FROM uploads
    WHERE uploads.user_id = quotas.user_id AND uploads.state = 'pending' AND lease_until > ${now}
  )`
}

export interface UsageRow {
  readonly capacity: number
  readonly used_bytes: number
  readonly reserved_bytes: number
  readonly file_count: number
}

export function toUsage(row: UsageRow): Usage {
  return {
    capacity: row.capacity,
    used: row.used_bytes,
    reserved: row.reserved_bytes,
    fileCount: row.file_count,
  }
}

/** A row of `users` as core knows it. */
export function toUser(row: UserRow): User {
  return { userId: row.id, status: row.status, createdAt: row.created_at }
}

interface FoundUser {
  readonly usage: Usage
  readonly status: UserStatus
  readonly createdAt: number
}

/** The user's figures and status, or `undefined` for an unknown or deleted user. */
export async function readUsage(
  { db, capacity }: LedgerTx,
  userId: UserId,
): Promise<FoundUser | undefined> {
  const { rows } = await sql<UsageRow & Pick<UserRow, 'status' | 'created_at'>>`
    SELECT status, users.created_at, used_bytes, reserved_bytes, file_count, ${capacity} AS capacity
    FROM quotas JOIN users ON users.id = quotas.user_id
    WHERE quotas.user_id = ${userId} AND status <> 'deleted'`.execute(db)
  const row = rows[0]
  return row && { usage: toUsage(row), status: row.status, createdAt: row.created_at }
}

/** As `readUsage`, and `undefined` also where the user of that id is another than the caller. */
async function readCaller(tx: LedgerTx, caller: Caller): Promise<FoundUser | undefined> {
  const found = await readUsage(tx, caller.userId)
  return found?.createdAt === caller.userCreatedAt ? found : undefined
}

/** How many uploads of the user are under way now. */
export async function countUploads({ db, now }: Clocked, userId: UserId): Promise<number> {
  const { rows } = await sql<{ readonly uploads: number }>`
    SELECT ${runningUploads(now)} AS uploads FROM quotas WHERE user_id = ${userId}
  `.execute(db)
  return rows[0]?.uploads ?? 0
}

interface Demand {
  readonly caller: Caller
  readonly precondition: Precondition | undefined
  readonly file: File | undefined
}

/** Throws `precondition_failed`, or why the user may not write at all. */
export async function assertPrecondition(
  tx: LedgerTx,
  { caller, precondition, file }: Demand,
): Promise<void> {
  if (precondition === undefined || isMet(precondition, file)) return
  throw (await inactiveReason(tx, caller)) ?? preconditionFailed()
}

/** Why the user may not write at all, which comes before any other refusal; `undefined` when they may. */
export async function inactiveReason(tx: LedgerTx, caller: Caller): Promise<AppError | undefined> {
  const found = await readCaller(tx, caller)
  return found?.status === 'active' ? undefined : inactiveUser(found?.status)
}

/**
 * A number as SQL's BIGINT, where PostgreSQL would otherwise take a parameter for a 32-bit integer.
 */
export function bigint(value: number): RawBuilder<number> {
  return sql<number>`CAST(${value} AS BIGINT)`
}

/** Why an upload is no longer pending: its user may not upload any more, or it was given up. */
export async function lostReason(tx: LedgerTx, caller: Caller): Promise<AppError> {
  return (await inactiveReason(tx, caller)) ?? uploadLost()
}

/** For an upload that is no longer pending, or never was. */
export function uploadLost(): AppError {
  return new AppError('unavailable', 'The upload took too long between its bytes and was given up.')
}
