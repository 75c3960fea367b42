import { type RawBuilder, sql } from 'kysely'
import { AppError } from '../../core/errors.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Books } from './ledger-sql.ts'

/** What a user's garbage may hold whatever the capacity, in bytes, so that small repositories can be overwritten too. */
const LEAST_GARBAGE_BYTES = 64 * 2 ** 20

/** What an object takes beside its content, at least: without it empty ones could be any number. */
const OBJECT_OVERHEAD_BYTES = 4096

/** SQL for what an object of that size counts as garbage. */
export function garbageBytes(size: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(${size} + ${sql.lit(OBJECT_OVERHEAD_BYTES)})`
}

export interface GarbageBound {
  /** Bytes of the file to come. */
  readonly size: RawBuilder<unknown>
  /** Of `reserved_bytes`, what is this file's own. */
  readonly ownReserved: RawBuilder<unknown>
  readonly capacity: RawBuilder<number>
}

/**
 * SQL for whether the user in the statement's row of `quotas` may add a file of that size, for all that the user's replaced and
 * deleted objects hold: they hold no more than `LEAST_GARBAGE_BYTES`, or with the files, the reservations and this file no more than
 * three times the capacity, or what is used where that is more (a capacity can shrink). Deleting adds nothing, so it is always free.
 */
export function isGarbageBounded({ size, ownReserved, capacity }: GarbageBound) {
  const held = sql`(garbage_bytes + reserved_bytes - ${ownReserved} + ${size})`
  return sql<boolean>`(
    garbage_bytes <= ${sql.lit(LEAST_GARBAGE_BYTES)}
    OR ${held} <= 2 * used_bytes
    OR used_bytes + ${held} <= 3 * ${capacity}
  )`
}

/** Why a file may not be added for what the user's garbage holds; `undefined` when it may. */
export async function whyGarbage(
  { db, now }: Pick<Books, 'db' | 'now'>,
  { userId, ...bound }: GarbageBound & { readonly userId: UserId },
): Promise<AppError | undefined> {
  const { rows } = await sql<{ readonly wait: number }>`
    SELECT COALESCE((SELECT MIN(not_before) FROM garbage WHERE garbage.user_id = quotas.user_id), 0) - ${now} AS wait
    FROM quotas WHERE user_id = ${userId} AND NOT ${isGarbageBounded(bound)}
  `.execute(db)
  const [row] = rows
  return (
    row &&
    new AppError(
      'too_many_requests',
      'Too much of what this user has replaced and deleted is still kept. It is removed by and by.',
      { facts: { retry_after: Math.max(1, Math.ceil(row.wait / 1000)) } },
    )
  )
}
