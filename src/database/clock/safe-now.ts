import { type RawBuilder, sql } from 'kysely'

/** The row of `leader_leases` with the safe time: `lease_until` is the time, `holder` the JSON of a `SafeTime`. */
export const SAFE_CLOCK = 'safe_clock'

/**
 * SQL for the time up to which anything has ended that is destroyed at its end (I17): the safe time of the last sweep,
 * or the clock, if that is behind it. Until the first sweep it is the clock. Each occurrence is evaluated once, and only
 * if it is reached.
 */
export function safeNow({ now }: { readonly now: RawBuilder<number> }): RawBuilder<number> {
  return sql<number>`(
    SELECT CASE WHEN safe < present THEN safe ELSE present END
    FROM (
      SELECT COALESCE(MIN(lease_until), ${now}) AS safe, ${now} AS present
      FROM leader_leases WHERE name = ${sql.lit(SAFE_CLOCK)}
    ) AS figures
  )`
}
