import { type RawBuilder, sql } from 'kysely'
import { type QuotaState, refusalOf, type QuotaRequest } from '../../core/quota/refusal.ts'
import type { AppError } from '../../core/errors.ts'
import type { CommitUpload } from '../../core/ledger/ledger.ts'
import type { File } from '../../core/files/file.ts'
import type { UserRow } from '../schema.ts'
import { bigint, isActive, type LedgerTx, runningUploads } from './ledger-sql.ts'
import { toUsage, type UsageRow } from './rows.ts'

type Sql = RawBuilder<unknown>

/** What a file needs of its user's quota, as SQL. */
interface Need {
  /** Bytes by which the file is larger than the one that it replaces, and than what counts for it already. */
  readonly growth: Sql
  /** Of `reserved_bytes`, what is this file's own. */
  readonly ownReserved: Sql
}

/** What an upload needs to begin or to commit, as SQL. */
interface UploadNeed extends Need {
  readonly userCreatedAt: RawBuilder<number>
  /** Bytes of the file. */
  readonly size: Sql
  /** Whether there is no file of the name. */
  readonly isNew: Sql
  readonly maxFiles: Sql
}

type Rule = Pick<LedgerTx, 'now' | 'capacity'>

/** SQL for whether the user in the statement's row of `quotas` may begin the upload. */
export function mayBegin(rule: Rule, need: UploadNeed & { readonly maxUploads: Sql }) {
  return sql<boolean>`(
    ${mayCommit(rule, need)} AND ${runningUploads(rule.now)} < ${need.maxUploads}
  )`
}

/** SQL for whether the user in the statement's row of `quotas` may have the uploaded file. */
export function mayCommit(rule: Rule, need: UploadNeed): RawBuilder<boolean> {
  const { userCreatedAt, size, ownReserved, isNew, maxFiles } = need
  return sql<boolean>`(
    ${isActive(userCreatedAt)}
    AND (NOT ${isNew} OR file_count < ${maxFiles})
    AND ${hasRoom(rule, need)}
    AND ${isGarbageBounded({ size, ownReserved, capacity: rule.capacity })}
  )`
}

/**
 * SQL for whether so much fits into the capacity. Growth beyond what the file has reserved must leave what others have
 * reserved; growth within it needs room for itself alone, since others hold no claim on it.
 */
export function hasRoom({ capacity }: Pick<Rule, 'capacity'>, { growth, ownReserved }: Need) {
  return sql<boolean>`(
    ${growth} = 0
    OR used_bytes + reserved_bytes - ${ownReserved} + ${growth} <= ${capacity}
    OR (${growth} <= ${ownReserved} AND used_bytes + ${growth} <= ${capacity})
  )`
}

/** What a user's garbage may hold whatever the capacity, in bytes, so that small repositories can be overwritten too. */
const LEAST_GARBAGE_BYTES = 64 * 2 ** 20

interface GarbageBound extends Pick<Need, 'ownReserved'>, Pick<Rule, 'capacity'> {
  /** Bytes of the file to come. */
  readonly size: Sql
}

/**
 * SQL for whether the user in the statement's row of `quotas` may add a file of that size, for all that the user's replaced and
 * deleted objects hold: they hold no more than `LEAST_GARBAGE_BYTES`, or with the files, the reservations and this file no more than
 * three times the capacity, or what is used where that is more (a capacity can shrink). Deleting adds nothing, so it is always free.
 */
function isGarbageBounded({ size, ownReserved, capacity }: GarbageBound) {
  const held = sql`(garbage_bytes + reserved_bytes - ${ownReserved} + ${size})`
  return sql<boolean>`(
    garbage_bytes <= ${sql.lit(LEAST_GARBAGE_BYTES)}
    OR ${held} <= 2 * used_bytes
    OR used_bytes + ${held} <= 3 * ${capacity}
  )`
}

/** What an object takes beside its content, at least: without it empty ones could be any number. */
const OBJECT_OVERHEAD_BYTES = 4096

/** SQL for what an object of that size counts as garbage. */
export function garbageBytes(size: Sql): RawBuilder<number> {
  return sql<number>`(${size} + ${sql.lit(OBJECT_OVERHEAD_BYTES)})`
}

/** Bytes by which a file of that size is larger than the one that it replaces; never below 0. */
export function growthOver(replaced: File | undefined, bytes: number): number {
  return Math.max(0, bytes - (replaced?.size ?? 0))
}

interface Upload {
  readonly size: number
  readonly replaced: File | undefined
  readonly ownReserved: number
}

/** What an upload needs whose figures, and the file that it replaces, were read under the lock. */
export function needOf(
  { userCreatedAt, maxFiles }: Pick<CommitUpload, 'userCreatedAt' | 'maxFiles'>,
  { size, replaced, ownReserved }: Upload,
): UploadNeed {
  return {
    userCreatedAt: bigint(userCreatedAt),
    size: bigint(size),
    growth: bigint(growthOver(replaced, size)),
    ownReserved: bigint(ownReserved),
    isNew: replaced === undefined ? sql`1 = 1` : sql`1 = 0`,
    maxFiles: bigint(maxFiles),
  }
}

interface Refused extends QuotaRequest {
  /** What the file had reserved by then. Where it is left out the user's garbage was not tested. */
  readonly ownReserved?: number
}

type StateRow = UsageRow &
  Pick<UserRow, 'status' | 'created_at'> & {
    readonly uploads: number
    /** `null` where the garbage forbids nothing. */
    readonly garbage_wait_ms: number | null
  }

/** Says why the rule did not hold; called under the same lock, so that the reason still holds. */
export async function refusalReason(tx: LedgerTx, refused: Refused): Promise<AppError> {
  const { db, now, capacity } = tx
  const { userId, requested, ownReserved } = refused
  const isBounded =
    ownReserved === undefined
      ? sql`1 = 1`
      : isGarbageBounded({ size: bigint(requested), ownReserved: bigint(ownReserved), capacity })
  const { rows } = await sql<StateRow>`
    SELECT status, users.created_at, used_bytes, reserved_bytes, file_count, ${capacity} AS capacity,
      ${runningUploads(now)} AS uploads,
      CASE WHEN NOT ${isBounded} THEN COALESCE(
        (SELECT MIN(not_before) FROM garbage WHERE garbage.user_id = quotas.user_id), 0) - ${now}
      END AS garbage_wait_ms
    FROM quotas JOIN users ON users.id = quotas.user_id
    WHERE quotas.user_id = ${userId} AND status <> 'deleted'
  `.execute(db)
  return refusalOf(refused, rows[0] && toState(rows[0]))
}

function toState(row: StateRow): QuotaState {
  return {
    status: row.status,
    createdAt: row.created_at,
    usage: toUsage(row),
    uploads: row.uploads,
    garbageWaitMs: row.garbage_wait_ms ?? undefined,
  }
}
