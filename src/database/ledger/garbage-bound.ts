import { type RawBuilder, sql } from 'kysely'

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
