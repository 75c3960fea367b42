import { type Kysely, type QueryResult, type RawBuilder, sql } from 'kysely'
import { MAX_BYTES } from '../../core/byte-size.ts'
import { type Caller, inactiveUser, userNotFound } from '../../core/users/caller.ts'
import { AppError } from '../../core/errors.ts'
import type { File } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { ListAudience } from '../../core/files/listing.ts'
import type { Account } from '../../core/users/account-ledger.ts'
import {
  type Comparable,
  isMet,
  type Precondition,
  preconditionFailed,
} from '../../core/files/precondition.ts'
import type { ObjectKey, Version } from '../../core/objects/object-key.ts'
import type { AccountLimits } from '../../core/quota/shares.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Database, Execute, Fragments } from '../database.ts'
import type { Build, Compiler, Slot } from '../statement.ts'
import type { BoundedMap } from '../../core/bounded-map.ts'
import type { EndPosition } from '../../core/history/history-ledger.ts'
import type { UnfinishedSearches } from './unfinished-searches.ts'
import { safeNow } from './safe-now.ts'
import type { Tables, UploadRow } from '../schema.ts'
import { type AccountRow, FILE_COLUMNS, toAccount, USAGE_COLUMNS } from './rows.ts'
import type { LedgerTimes } from './times.ts'

export interface Clock {
  readonly now: RawBuilder<number>
}

export interface Clocked extends Clock {
  readonly db: Kysely<Tables>
}

/** The SQL that statements are built from, besides their values. */
export interface SqlContext extends Clock {
  /** SQL for the capacity in force, in bytes, of the user in the `quotas` row. */
  readonly capacity: RawBuilder<number>
  /** Whether changes and purges are to be delivered by webhooks. */
  readonly queuesWebhooks: boolean
  /** 0: what is replaced or deleted becomes garbage at once. */
  readonly historyLifetimeMs: number
  /** In per cent of the capacity. */
  readonly historyShare: number
  readonly limits: AccountLimits
  readonly times: LedgerTimes
  readonly textList: Fragments['textList']
}

export interface LedgerTx extends SqlContext, Clocked {
  readonly forUpdate: Fragments['forUpdate']
  readonly indexOf: Fragments['indexOf']
  /** Bytes of capacity that every user has without a grant. */
  readonly baseCapacity: number
  readonly compile: Compiler<SqlContext>
  readonly execute: Execute
  readonly searches: UnfinishedSearches
  /**
   * Up to where, oldest end first, a user's versions are all protected, so that the next search for others begins there.
   * An end never comes to stand before an earlier one.
   */
  readonly passedOver: BoundedMap<UserId, EndPosition>
  readonly keepIndexOrder: Database['keepIndexOrder']
}

/** Runs a statement that many requests need. `build` must be a constant: what it builds is compiled only once. */
export async function run<V, R>(
  { compile, execute }: Pick<LedgerTx, 'compile' | 'execute'>,
  build: Build<SqlContext, V, R>,
  values: V,
): Promise<QueryResult<R>> {
  return await execute(compile(build)(values))
}

export function capacityInForce(now: RawBuilder<number>, baseCapacity: number): RawBuilder<number> {
  return capacityWith(isInForce(now), baseCapacity)
}

/**
 * SQL for the capacity by which files and past versions are destroyed: that of all grants that are in force by the clock
 * or by the safe time (I17).
 */
export function capacityByAnyClock(tx: Pick<LedgerTx, 'now' | 'baseCapacity'>): RawBuilder<number> {
  const isGranted = sql<boolean>`(${isInForce(tx.now)} OR ${isInForce(safeNow(tx))})`
  return capacityWith(isGranted, tx.baseCapacity)
}

/** At most 2^53 - 1. Summed as floating point, exact up to there, because SQLite's integer sum overflows at 2^63. */
function capacityWith(isGranted: RawBuilder<boolean>, baseCapacity: number): RawBuilder<number> {
  // Literals: the statements that ask for it several times would bind each again.
  const most = sql.lit(MAX_BYTES)
  return sql<number>`(
    SELECT CAST(CASE WHEN total > ${most} THEN ${most} ELSE total END AS BIGINT)
    FROM (
      SELECT ${sql.lit(baseCapacity)} + COALESCE(SUM(bytes * 1.0), 0) AS total
      FROM grants
      WHERE grants.user_id = quotas.user_id AND ${isGranted}
    ) AS granted
  )`
}

export function isInForce(now: RawBuilder<number>): RawBuilder<boolean> {
  return sql<boolean>`(
    (grants.starts_at IS NULL OR grants.starts_at <= ${now})
    AND (grants.ends_at IS NULL OR grants.ends_at > ${now})
  )`
}

/**
 * Locks the user's `quotas` row until the transaction ends. Every transaction on a user's quota, uploads, files or
 * grants starts with it: one lock order, no deadlock, and later reads stay valid. An append that leaves no garbage
 * needs only the lock of its upload. The lock is a write: PostgreSQL makes its COMMIT wait for a synchronous standby,
 * so that no read confirms a change that only one server has. Does nothing on SQLite, which runs one transaction at a
 * time.
 */
export async function lockUser(
  { db, forUpdate }: Pick<LedgerTx, 'db' | 'forUpdate'>,
  userId: UserId,
): Promise<void> {
  if (forUpdate === undefined) return
  await sql`SELECT user_id FROM quotas WHERE user_id = ${userId} ${forUpdate}`.execute(db)
}

/** SQL for whether the user of the `quotas` row is active, and was created at that time: no later user of the id. */
export function isActive(
  userCreatedAt: RawBuilder<number>,
  userId: RawBuilder<unknown> = sql`quotas.user_id`,
): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (
    SELECT 1 FROM users
    WHERE users.id = ${userId} AND users.status = 'active' AND users.created_at = ${userCreatedAt}
  )`
}

/** As `isActive`, but also for a suspended user. */
export function isNotDeleted(userCreatedAt: RawBuilder<number>): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (
    SELECT 1 FROM users WHERE users.id = quotas.user_id AND users.status <> 'deleted'
      AND users.created_at = ${userCreatedAt}
  )`
}

/** SQL that excludes another user of the same id from `users`; empty without a creation time. */
export function createdAt(userCreatedAt: number | undefined): RawBuilder<unknown> {
  return userCreatedAt === undefined ? sql`` : sql`AND users.created_at = ${userCreatedAt}`
}

/**
 * SQL for the user whose rows are listed. It is the key of the search: in a condition, SQLite would test it for each
 * row, and all rows of a suspended user would be read.
 */
export function listedOwner(owner: ListedOwner): RawBuilder<unknown> {
  return sql`(SELECT id FROM users WHERE ${isListedOwner(owner)})`
}

export interface ListedOwner {
  readonly userId: UserId
  readonly userCreatedAt?: number | undefined
  readonly audience?: ListAudience
}

export function isListedOwner(owner: ListedOwner): RawBuilder<boolean> {
  const { userId, userCreatedAt, audience } = owner
  const isVisible = audience === 'operator' ? sql`status <> 'deleted'` : sql`status = 'active'`
  return sql`id = ${userId} AND ${isVisible} ${createdAt(userCreatedAt)}`
}

/**
 * A resumable upload counts only while a request holds it. `MAX_UNFINISHED_UPLOADS` limits the others. With a narrow
 * credential, only its own uploads count.
 */
export function runningUploads(
  now: RawBuilder<number>,
  credential?: RawBuilder<unknown>,
): RawBuilder<number> {
  return sql<number>`(
    SELECT COUNT(*) FROM uploads
    WHERE uploads.user_id = quotas.user_id AND uploads.state = 'pending' AND lease_until > ${now}
      ${begunBy(credential)}
      AND NOT EXISTS (
        SELECT 1 FROM resumable_uploads
        WHERE resumable_uploads.version = uploads.version AND holder_until <= ${now}
      )
  )`
}

/** SQL that leaves only the uploads that the narrow credential has begun; empty without one. */
export function begunBy(credential: RawBuilder<unknown> | undefined): RawBuilder<unknown> {
  return credential === undefined ? sql`` : sql`AND uploads.credential = ${credential}`
}

/** Includes deleted users until they are purged. */
export async function findAccount(
  { db, capacity }: LedgerTx,
  userId: UserId,
): Promise<Account | undefined> {
  const { rows } = await sql<AccountRow>`
    SELECT users.id, status, users.created_at, ${USAGE_COLUMNS}, ${capacity} AS capacity
    FROM users JOIN quotas ON quotas.user_id = users.id
    WHERE users.id = ${userId}
  `.execute(db)
  return rows[0] && toAccount(rows[0])
}

interface Demand extends Caller {
  readonly precondition?: Precondition | undefined
}

/** Throws `precondition_failed`, or why the user may not write at all. */
export async function assertPrecondition(
  tx: LedgerTx,
  demand: Demand,
  file: Comparable | undefined,
): Promise<void> {
  const { precondition } = demand
  if (precondition === undefined || isMet(precondition, file)) return
  throw (await inactiveReason(tx, demand)) ?? preconditionFailed(precondition)
}

/** Why the user may not write, which takes precedence over any other refusal; `undefined` if they may. */
export async function inactiveReason(
  tx: LedgerTx,
  caller: Caller & { readonly byOperator?: boolean | undefined },
): Promise<AppError | undefined> {
  const { userId, userCreatedAt, byOperator = false } = caller
  const { user } = (await findAccount(tx, userId)) ?? {}
  const status = user?.createdAt === userCreatedAt ? user.status : undefined
  if (status === 'active' || (byOperator && status === 'suspended')) return undefined
  return byOperator ? userNotFound(userId) : inactiveUser(status)
}

/** Throws why the user may not write. */
export async function requireActive(
  tx: LedgerTx,
  caller: Parameters<typeof inactiveReason>[1],
): Promise<void> {
  const reason = await inactiveReason(tx, caller)
  if (reason !== undefined) throw reason
}

/** SQL that leaves out some users; empty for none. */
export function except(
  userIds: readonly UserId[],
  userId: RawBuilder<unknown> = sql`user_id`,
): RawBuilder<unknown> {
  return userIds.length === 0 ? sql`` : sql`AND ${userId} NOT IN (${sql.join(userIds)})`
}

/** PostgreSQL would otherwise take the parameter for a 32-bit integer. */
export function bigint(value: number | RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`CAST(${value} AS BIGINT)`
}

/** PostgreSQL would otherwise not know the type of a parameter that is only compared with NULL. */
export function text(value: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`CAST(${value} AS TEXT)`
}

/** The error for an upload that is not pending; an inactive user takes precedence. */
export async function lostReason(tx: LedgerTx, caller: Caller): Promise<AppError> {
  return (await inactiveReason(tx, caller)) ?? uploadLost()
}

export function uploadLost(): AppError {
  return new AppError('unavailable', 'The upload was aborted because its lease expired.')
}

interface NamedFile {
  readonly userId: UserId
  readonly name: FileName
}

/** What a name holds. */
export interface Holding {
  /** The file of the name. */
  readonly file: File | undefined
  /** An expired one, whose name is free, and whose bytes still count. */
  readonly expired: File | undefined
  /** Either. */
  readonly row: File | undefined
}

export function holdingOf(row: File | undefined, now: number): Holding {
  return row !== undefined && row.expiresAt <= now
    ? { file: undefined, expired: row, row }
    : { file: row, expired: undefined, row }
}

/** SQL for whether a row of `files` is still found. */
export function isCurrent({ now }: Clock): RawBuilder<boolean> {
  return sql<boolean>`(files.expires_at > ${now})`
}

export interface FoundUpload extends NamedFile {
  readonly objectKey: ObjectKey
  readonly reserved: number
  readonly credential: string | null
  readonly deviceId: string | null
  readonly deviceReserved: number
  readonly state: UploadRow['state']
  readonly outcome: string | null
  readonly now: number
  /** What the name of the upload holds. */
  readonly held: Holding
}

export interface UploadId {
  readonly userId: UserId
  readonly version: Version
}

/** Finds the upload and what its name holds in one statement, because each commit needs both. */
export async function findUpload(
  tx: LedgerTx,
  { userId, version }: UploadId,
): Promise<FoundUpload | undefined> {
  const { rows } = await run(tx, selectUpload, { userId, version })
  const [row] = rows
  if (row === undefined) return undefined
  const { ownName, ownKey, ownDevice, deviceReserved, reserved, credential, ...others } = row
  const { state, outcome, now, ...file } = others
  const held = holdingOf(isFile(file) ? file : undefined, now)
  const own = { userId, name: ownName, objectKey: ownKey }
  const device = { deviceId: ownDevice, deviceReserved }
  return { ...own, ...device, reserved, credential, state, outcome, now, held }
}

type SelectedUpload = Pick<
  FoundUpload,
  'deviceReserved' | 'reserved' | 'credential' | 'state' | 'outcome' | 'now'
> & {
  readonly ownDevice: string | null
  readonly ownName: FileName
  readonly ownKey: ObjectKey
}

type NoFile = { readonly [K in keyof File]: null }

/**
 * The files are joined by the found row's user. If PostgreSQL knew that this is the user asked for, it could, without
 * statistics, read all files of the user for the one of the name.
 */
function selectUpload(slot: Slot<UploadId>, { now }: SqlContext) {
  return sql<SelectedUpload & (File | NoFile)>`
    SELECT uploads.name AS "ownName", uploads.object_key AS "ownKey", reserved_bytes AS reserved,
      uploads.device_id AS "ownDevice", device_reserved AS "deviceReserved", credential, state, outcome,
      ${now} AS now, ${FILE_COLUMNS}
    FROM uploads
    LEFT JOIN files ON files.user_id = uploads.user_id || '' AND files.name = uploads.name
    WHERE uploads.version = ${slot('version')} AND uploads.user_id = ${slot('userId')}
  `
}

function isFile(file: File | NoFile): file is File {
  return file.version !== null
}
