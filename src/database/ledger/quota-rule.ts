import { type RawBuilder, sql } from 'kysely'
import { type QuotaState, refusalOf, type QuotaRequest } from '../../core/quota/refusal.ts'
import type { AppError } from '../../core/errors.ts'
import type { CommitUpload, Usage } from '../../core/ledger/ledger.ts'
import type { File } from '../../core/files/file.ts'
import type { UserRow } from '../schema.ts'
import { bigint, isActive, type LedgerTx, runningUploads } from './ledger-sql.ts'
import { USAGE_COLUMNS, usageIn } from './rows.ts'

type Sql = RawBuilder<unknown>

interface Need {
  /** Bytes by which the file exceeds the replaced file and the bytes already counted for it; at least 0. */
  readonly growth: Sql
  /** Bytes of `reserved_bytes` that belong to this file. */
  readonly ownReserved: Sql
}

interface UploadNeed extends Need {
  readonly userCreatedAt: RawBuilder<number>
  readonly size: Sql
  readonly isNew: Sql
  readonly maxFiles: Sql
}

type Rule = Pick<LedgerTx, 'now' | 'capacity'>

/** SQL condition on the user's `quotas` row, as are `mayCommit` and `hasRoom`. */
export function mayBegin(rule: Rule, need: UploadNeed & { readonly maxUploads: Sql }) {
  return sql<boolean>`(
    ${mayCommit(rule, need)} AND ${runningUploads(rule.now)} < ${need.maxUploads}
  )`
}

export function mayCommit(rule: Rule, need: UploadNeed): RawBuilder<boolean> {
  const { userCreatedAt, size, ownReserved, isNew, maxFiles } = need
  return sql<boolean>`(
    ${isActive(userCreatedAt)}
    AND (NOT ${isNew} OR file_count < ${maxFiles})
    AND ${hasRoom(rule, need)}
    AND ${isGarbageBounded({ size, ownReserved, capacity: rule.capacity })}
  )`
}

/** Growth beyond the file's reservation must leave the others untouched; growth within it needs only its own room. */
export function hasRoom({ capacity }: Pick<Rule, 'capacity'>, { growth, ownReserved }: Need) {
  return sql<boolean>`(
    ${growth} = 0
    OR used_bytes + reserved_bytes - ${ownReserved} + ${growth} <= ${capacity}
    OR (${growth} <= ${ownReserved} AND used_bytes + ${growth} <= ${capacity})
  )`
}

/** Garbage that is always allowed, in bytes, so that small repositories can be overwritten too. */
const LEAST_GARBAGE_BYTES = 64 * 2 ** 20

interface GarbageBound extends Pick<Need, 'ownReserved'>, Pick<Rule, 'capacity'> {
  readonly size: Sql
}

// Garbage up to `LEAST_GARBAGE_BYTES` is allowed. Beyond it, garbage, files, reservations and the new file may hold
// three times the capacity, or three times the used bytes if those are more (a capacity can shrink).
function isGarbageBounded({ size, ownReserved, capacity }: GarbageBound) {
  const held = sql`(garbage_bytes + reserved_bytes - ${ownReserved} + ${size})`
  return sql<boolean>`(
    garbage_bytes <= ${sql.lit(LEAST_GARBAGE_BYTES)}
    OR ${held} <= 2 * used_bytes
    OR used_bytes + ${held} <= 3 * ${capacity}
  )`
}

/** The minimum overhead of an object. Without it, the number of empty objects would be unlimited. */
const OBJECT_OVERHEAD_BYTES = 4096

export function garbageBytes(size: Sql): RawBuilder<number> {
  return sql<number>`(${size} + ${sql.lit(OBJECT_OVERHEAD_BYTES)})`
}

export function growthOver(replaced: File | undefined, bytes: number): number {
  return Math.max(0, bytes - (replaced?.size ?? 0))
}

interface Upload {
  readonly size: number
  readonly replaced: File | undefined
  readonly ownReserved: number
}

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
  /** Bytes reserved for the file so far; `undefined` if the limit of garbage was not tested. */
  readonly ownReserved?: number
}

type StateRow = Usage &
  Pick<UserRow, 'status' | 'created_at'> & {
    readonly uploads: number
    readonly garbage_wait_ms: number | null
  }

/** Call this under the lock of the failed rule, so that the reason still holds. */
export async function refusalReason(tx: LedgerTx, refused: Refused): Promise<AppError> {
  const { db, now, capacity } = tx
  const { userId, requested, ownReserved } = refused
  const isBounded =
    ownReserved === undefined
      ? sql`1 = 1`
      : isGarbageBounded({ size: bigint(requested), ownReserved: bigint(ownReserved), capacity })
  const { rows } = await sql<StateRow>`
    SELECT status, users.created_at, ${USAGE_COLUMNS}, ${capacity} AS capacity,
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
    usage: usageIn(row),
    uploads: row.uploads,
    garbageWaitMs: row.garbage_wait_ms ?? undefined,
  }
}
