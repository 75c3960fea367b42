import { type RawBuilder, sql } from 'kysely'
import { MAX_BYTES } from '../../core/byte-size.ts'
import { countedBytes, type File } from '../../core/files/file.ts'
import { shareOf } from '../../core/quota/shares.ts'
import { inline, type Slot } from '../statement.ts'
import { begunBy, bigint, isActive, type SqlContext, runningUploads, text } from './ledger-sql.ts'
import {
  type Evictable,
  evictableIn,
  type Eviction,
  type Room,
  type Shortage,
  unclaimedByOthers,
} from './evictable.ts'

type Sql = RawBuilder<unknown>

export interface Need {
  /** Bytes by which the file exceeds the replaced file and the bytes already counted for it; at least 0. */
  readonly growth: Sql
  /** Bytes of `reserved_bytes` that belong to this file. */
  readonly ownReserved: Sql
  /** Set for an upload that evicts. */
  readonly evictable?: Evictable | undefined
}

export interface UploadNeed extends Need {
  readonly userCreatedAt: RawBuilder<number>
  readonly size: Sql
  /** How many files more there will be; not positive for an overwrite. */
  readonly newFiles: Sql
  /** The narrow credential that begins the upload, or has begun it; NULL, or left out, for the account itself. */
  readonly credential?: Sql | undefined
}

type By = Pick<UploadNeed, 'credential'>

/** As `limitFor`. */
function limitBy(limit: number, { credential }: By): Sql {
  if (credential === undefined) return sql.lit(limit)
  const forNarrow = sql.lit(shareOf(limit).all)
  return sql`CASE WHEN ${credential} IS NULL THEN ${sql.lit(limit)} ELSE ${forNarrow} END`
}

/** Of a limit, what one narrow credential may have. */
function shareBy(limit: number): Sql {
  return sql.lit(shareOf(limit).own)
}

/**
 * SQL condition on the user's `quotas` row, as are `mayCommit` and `hasRoom`: they decide in the UPDATE that takes the
 * bytes. If one does not hold, `refusal-reason.ts` finds out why, and `core/quota/refusal.ts` says so
 * (`capacity_exceeded` and others).
 */
export function mayBegin(context: SqlContext, need: UploadNeed): RawBuilder<boolean> {
  const { now } = context
  const { maxUploads } = context.limits
  const { credential } = need
  return sql<boolean>`(
    ${mayCommit(context, need)} AND ${runningUploads(now)} < ${limitBy(maxUploads, need)}
    ${ifNarrow(need, sql`${runningUploads(now, credential)} < ${shareBy(maxUploads)}`)}
  )`
}

/** SQL for what a narrow credential is held to in addition. */
function ifNarrow({ credential }: By, rule: Sql): Sql {
  return credential === undefined ? sql`` : sql`AND (${credential} IS NULL OR ${rule})`
}

/** Whether an upload may be begun, continued or committed. */
export function mayCommit(context: SqlContext, need: UploadNeed): RawBuilder<boolean> {
  return sql<boolean>`(${fitsQuota(context, need)} AND ${mayLeaveGarbage(context, need)})`
}

/** The part of `mayCommit` about garbage. */
export function mayLeaveGarbage(
  context: Pick<SqlContext, 'capacity'>,
  need: Sizes & By,
): RawBuilder<boolean> {
  return sql<boolean>`(
    ${isGarbageBounded(context, need)} ${ifNarrow(need, isGarbageBoundedForNarrow(context, need))}
  )`
}

export interface Announcement {
  /** The version of the upload, whose previous announcement does not count. */
  readonly version: Sql
  /** The announced length, or the bytes announced so far if the length is deferred. */
  readonly announced: Sql
}

/** As `mayBegin`, for a resumable upload. */
export function mayCreate(
  context: SqlContext,
  need: UploadNeed & Announcement,
): RawBuilder<boolean> {
  const { now } = context
  const { maxUnfinished } = context.limits
  const { credential } = need
  return sql<boolean>`(
    ${mayCommit(context, need)} AND ${unfinishedUploads(now).count} < ${limitBy(maxUnfinished, need)}
    ${ifNarrow(need, sql`${unfinishedUploads(now, { credential }).count} < ${shareBy(maxUnfinished)}`)}
    AND ${mayAnnounce(context, need)}
  )`
}

/** An overwrite reserves only its growth, so this bounds the bytes of unfinished uploads in the store. */
export function mayAnnounce(
  { now, capacity }: SqlContext,
  { version, announced }: Announcement,
): RawBuilder<boolean> {
  const { count, bytes } = unfinishedUploads(now, { except: version })
  return sql<boolean>`(${count} = 0 OR ${bytes} + ${announced} <= ${capacity})`
}

interface WhichUploads {
  readonly except?: Sql | undefined
  readonly credential?: Sql | undefined
}

/** The unfinished resumable uploads of the user in the `quotas` row: all, or those of a narrow credential. */
export function unfinishedUploads(now: RawBuilder<number>, which: WhichUploads = {}) {
  const { except = sql`''`, credential } = which
  // Not a join: with a plan from a time of few rows, that would read all uploads that have ended.
  const from = sql`
    FROM (
      SELECT (
        SELECT announced_bytes FROM resumable_uploads
        WHERE resumable_uploads.version = uploads.version
      ) AS announced_bytes
      FROM uploads
      WHERE uploads.user_id = quotas.user_id AND uploads.version <> ${except}
        AND uploads.state = 'pending' AND uploads.lease_until > ${now} ${begunBy(credential)}
    ) AS unfinished
  `
  // As in `capacityInForce`: summed as floating point, exact up to 2^53 - 1.
  return {
    count: sql<number>`(SELECT COUNT(announced_bytes) ${from})`,
    bytes: sql<number>`(
      SELECT CAST(CASE WHEN total > ${MAX_BYTES} THEN ${MAX_BYTES} ELSE total END AS BIGINT)
      FROM (SELECT COALESCE(SUM(announced_bytes * 1.0), 0) AS total ${from}) AS announced
    )`,
  }
}

/** The part of `mayCommit` about the capacity and the number of files: all of it for bytes that are stored already. */
export function fitsQuota(context: SqlContext, need: UploadNeed): RawBuilder<boolean> {
  const { userCreatedAt, newFiles, evictable } = need
  const maxFiles = limitBy(context.limits.maxFiles, need)
  const orEvicting =
    evictable === undefined ? sql`` : sql`OR ${filesToEvict(context, need)} <= ${evictable.files}`
  return sql<boolean>`(
    ${isActive(userCreatedAt)}
    AND (${newFiles} <= 0 OR file_count + ${newFiles} <= ${maxFiles} ${orEvicting})
    AND ${hasRoom(context, need)}
  )`
}

/**
 * Growth beyond the file's reservation must leave the others untouched; growth within it needs only its own room. An
 * upload that evicts may reserve what the files that it will evict still use. It leaves the reservations of other uploads
 * untouched, but for those that `unclaimedByOthers` tells; what has been received and reserved stays within the capacity.
 */
export function hasRoom(context: SqlContext, need: Need) {
  const { capacity } = context
  const { growth, ownReserved, evictable } = need
  const reserved = reservedWith(need)
  const otherwise =
    evictable === undefined
      ? sql`(${growth} <= ${ownReserved} AND used_bytes + ${growth} <= ${capacity})`
      : sql`(
        ${bytesToEvict(context, need, evictable.unclaimed.reserved)} <= ${evictable.bytes}
        AND ${reserved} - ${evictable.unclaimed.awaited} <= ${capacity}
      )`
  return sql<boolean>`(
    ${growth} = 0 ${isNew(need) ? sql`AND (${need.newFiles} <= 0 OR ${capacity} > 0)` : sql``}
    OR ${growth} > 0 AND (used_bytes + ${reserved} <= ${capacity} OR ${otherwise})
  )`
}

/** Whether the file may be a new one. Without a capacity there is none, also if it is empty. */
function isNew(need: Need | UploadNeed): need is UploadNeed {
  return 'newFiles' in need
}

/** What must be evicted for `fitsQuota` to accept the file: a row, unless the user is missing. */
export function shortageOf(
  context: SqlContext,
  values: NeedValues,
  eviction: Eviction,
): RawBuilder<Shortage> {
  const need = needFrom(inline(values))
  const bytes = bytesToEvict(context, need, unclaimedByOthers(inline(eviction)).reserved)
  return sql<Shortage>`
    SELECT ${values.growth === 0 ? sql`0` : bytes} AS bytes,
      ${values.newFiles === 0 ? sql`0` : filesToEvict(context, need)} AS files
    FROM quotas WHERE user_id = ${eviction.userId}
  `
}

function bytesToEvict({ capacity }: SqlContext, need: Need, unclaimed: Sql): Sql {
  return sql`used_bytes + ${reservedWith(need)} - ${unclaimed} - ${capacity}`
}

function filesToEvict({ limits }: SqlContext, need: UploadNeed): Sql {
  return sql`file_count + ${need.newFiles} - ${limitBy(limits.maxFiles, need)}`
}

/** Of all uploads, if this one reserves its growth. */
function reservedWith({ growth, ownReserved }: Need): Sql {
  return sql`reserved_bytes - ${ownReserved} + ${growth}`
}

/** Garbage that is always allowed, in bytes, so that small repositories can be overwritten too. */
export const LEAST_GARBAGE_BYTES = 64 * 2 ** 20

const GARBAGE = sql`(garbage_bytes + history_excess)`

// An aborted upload counts as garbage until its row is deleted, because what it left in the store is kept as long. So
// does what the history has beyond its allowance, until the sweep purges it.
// Garbage up to `LEAST_GARBAGE_BYTES` is allowed. Beyond it, garbage, files, reservations and the new file may hold
// three times the capacity, or three times the used bytes if those are more (a capacity can shrink).
function isGarbageBounded({ capacity }: Pick<SqlContext, 'capacity'>, sizes: Sizes) {
  const held = heldWith(sizes)
  return sql<boolean>`(
    ${GARBAGE} <= ${sql.lit(LEAST_GARBAGE_BYTES)}
    OR ${held} <= 2 * used_bytes
    OR used_bytes + ${held} <= 3 * ${capacity}
  )`
}

/** Of the file of an upload. */
type Sizes = Pick<UploadNeed, 'size' | 'ownReserved'>

/** Garbage, reservations and the file. */
function heldWith({ size, ownReserved }: Sizes): Sql {
  return sql`(${GARBAGE} + reserved_bytes - ${ownReserved} + ${size})`
}

/**
 * Whether a narrow credential may send a file or, at its commit, store it. What it has reserved can become garbage too,
 * and what the file replaces becomes garbage. Others may then still store half of the capacity, in place of other files or
 * after they have deleted some, since their garbage and files may hold three times the capacity, or the used bytes.
 */
export function isGarbageBoundedForNarrow(
  { capacity }: Pick<SqlContext, 'capacity'>,
  sizes: Sizes,
): RawBuilder<boolean> {
  const { size, ownReserved } = sizes
  const held = heldWith(sizes)
  return sql<boolean>`(
    ${GARBAGE} <= ${sql.lit(LEAST_GARBAGE_BYTES / 2)} AND ${size} <= ${sql.lit(LEAST_GARBAGE_BYTES / 4)}
    OR 2 * ${held} <= 3 * used_bytes
    OR 2 * (${GARBAGE} + reserved_bytes - ${ownReserved}) <= 3 * ${capacity}
      AND 2 * (used_bytes + ${held}) <= 5 * ${capacity}
  )`
}

export function growthOver(replaced: Replaced | undefined, bytes: number): number {
  return Math.max(0, bytes - (replaced ? countedBytes(replaced) : 0))
}

type Replaced = Pick<File, 'size' | 'metadataBytes'>

interface Upload {
  readonly size: number
  readonly replaced: Replaced | undefined
  readonly ownReserved: number
}

interface Uploader {
  readonly userCreatedAt: number
  readonly credential?: string | null | undefined
}

export function needOf(values: NeedValues, room: Room | undefined): UploadNeed {
  return needFrom(inline(values), room && evictableIn(inline(room)))
}

/** The values in an `UploadNeed`. */
export interface NeedValues {
  readonly userCreatedAt: number
  readonly size: number
  readonly growth: number
  readonly ownReserved: number
  readonly newFiles: number
  readonly credential: string | null
}

export function needValues(
  { userCreatedAt, credential = null }: Uploader,
  { size, replaced, ownReserved }: Upload,
): NeedValues {
  const newFiles = replaced === undefined ? 1 : 0
  const growth = growthOver(replaced, size)
  return { userCreatedAt, size, growth, ownReserved, newFiles, credential }
}

export function needFrom(slot: Slot<NeedValues>, evictable?: Evictable): UploadNeed {
  return {
    userCreatedAt: bigint(slot('userCreatedAt')),
    size: bigint(slot('size')),
    growth: bigint(slot('growth')),
    ownReserved: bigint(slot('ownReserved')),
    newFiles: bigint(slot('newFiles')),
    credential: text(slot('credential')),
    evictable,
  }
}
