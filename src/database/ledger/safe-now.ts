import { type RawBuilder, sql } from 'kysely'

/** The row of `leader_leases` with the safe time: `lease_until` is the time, `holder` the JSON of a `SafeTime`. */
export const SAFE_CLOCK = 'safe_clock'

/**
 * SQL for the time up to which anything has ended that is destroyed at its end (I17): the safe time of the last sweep,
 * or the clock, if that is behind it. Until the first sweep it is the clock. Each occurrence is evaluated once, and only
 * if it is reached.
 */
export function safeNow({ now }: { readonly now: RawBuilder<number> }): RawBuilder<number> {
  return compared(now, sql`safe < present`)
}

/**
 * SQL for the time from which an object's delay counts: the clock, or the safe time of the last sweep, if the clock is
 * behind it. A clock that has gone back and is right again before a sweep reads it would otherwise cut the delay short.
 */
export function delayStart({ now }: { readonly now: RawBuilder<number> }): RawBuilder<number> {
  return compared(now, sql`safe > present`)
}

function compared(now: RawBuilder<number>, isSafe: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(
    SELECT CASE WHEN ${isSafe} THEN safe ELSE present END
    FROM (
      SELECT COALESCE(MIN(lease_until), ${now}) AS safe, ${now} AS present
      FROM leader_leases WHERE name = ${sql.lit(SAFE_CLOCK)}
    ) AS figures
  )`
}
