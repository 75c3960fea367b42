import { type RawBuilder, sql } from 'kysely'
import { bigint, type Rule } from './ledger-sql.ts'

/** The minimum overhead of an object or an aborted upload. Without it, the number of empty ones would be unlimited. */
export const OBJECT_OVERHEAD_BYTES = 4096

/** What an object counts as garbage, and in the history. */
export function garbageBytes(size: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(${bigint(size)} + ${sql.lit(OBJECT_OVERHEAD_BYTES)})`
}

/** The part of an UPDATE of the `quotas` row that counts versions that enter and leave the history. */
export function countHistory(
  rule: Rule,
  change: { readonly bytes: RawBuilder<unknown>; readonly versions: RawBuilder<unknown> },
): RawBuilder<unknown> {
  const [bytes, versions] = [bigint(change.bytes), bigint(change.versions)]
  const counted = sql`history_bytes + ${bytes}`
  return sql`
    history_bytes = ${counted},
    history_count = history_count + ${versions},
    history_excess = CASE WHEN ${bytes} = 0 THEN history_excess ELSE ${excessOf(rule, counted)} END
  `
}

/** The bytes of the history beyond its allowance. */
export function excessOf(rule: Rule, counted: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(
    SELECT CASE WHEN excess > 0 THEN excess ELSE 0 END
    FROM (SELECT ${counted} - ${allowanceOf(rule)} AS excess) AS beyond
  )`
}

/** Of the user in the `quotas` row, in bytes. */
export function allowanceOf(rule: Pick<Rule, 'capacity' | 'historyShare'>): RawBuilder<number> {
  return sql<number>`(${rule.capacity} * ${sql.lit(rule.historyShare)} / 100)`
}
