import { type RawBuilder, sql } from 'kysely'
import { FREE_METADATA_BYTES } from '../../core/files/metadata.ts'
import { bigint, type SqlContext } from './ledger-sql.ts'

/** The minimum overhead of an object or an aborted upload. Without it, the number of empty ones would be unlimited. */
export const OBJECT_OVERHEAD_BYTES = 4096

/** As `countedBytes`, of rows of `files`. */
export const COUNTED_BYTES = sql<number>`(files.size + files.metadata_bytes)`

/** As `metadataBytes`. Both engines count the bytes of UTF-8. */
export function metadataBytesOf(metadata: RawBuilder<unknown>): RawBuilder<number> {
  const free = sql.lit(FREE_METADATA_BYTES)
  return sql<number>`(
    CASE WHEN octet_length(${metadata}) > ${free} THEN octet_length(${metadata}) - ${free} ELSE 0 END
  )`
}

/** As `garbageBytes`, of a size that is known. */
export function withOverhead(size: number): number {
  return size + OBJECT_OVERHEAD_BYTES
}

/** What an object counts as garbage, and in the history. */
export function garbageBytes(size: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(${bigint(size)} + ${sql.lit(OBJECT_OVERHEAD_BYTES)})`
}

/** The part of an UPDATE of the `quotas` row that counts versions that enter and leave the history. */
export function countHistory(
  context: SqlContext,
  change: {
    readonly bytes: RawBuilder<unknown>
    readonly versions: RawBuilder<unknown>
    /** Of them; none by default. */
    readonly protectedBytes?: RawBuilder<unknown>
  },
): RawBuilder<unknown> {
  const [bytes, versions] = [bigint(change.bytes), bigint(change.versions)]
  const counted = sql`history_bytes + ${bytes}`
  const protectedBytes =
    change.protectedBytes && sql`history_protected + ${bigint(change.protectedBytes)}`
  const excess = excessOf(context, { bytes: counted, protectedBytes })
  return sql`
    history_bytes = ${counted},
    history_count = history_count + ${versions},
    ${protectedBytes === undefined ? sql`` : sql`history_protected = ${protectedBytes},`}
    history_excess = CASE WHEN ${bytes} = 0 THEN history_excess ELSE ${excess} END
  `
}

interface Held {
  readonly bytes: RawBuilder<unknown>
  readonly protectedBytes?: RawBuilder<unknown> | undefined
}

/** The bytes of the history beyond its allowance, without what is protected. */
export function excessOf(
  context: SqlContext,
  { bytes, protectedBytes = sql`history_protected` }: Held,
): RawBuilder<number> {
  return sql<number>`(
    SELECT CASE WHEN excess > 0 THEN excess ELSE 0 END
    FROM (SELECT ${bytes} - (${protectedBytes}) - ${allowanceOf(context)} AS excess) AS beyond
  )`
}

/** Of the user in the `quotas` row, in bytes. */
export function allowanceOf(
  context: Pick<SqlContext, 'capacity' | 'historyShare'>,
): RawBuilder<number> {
  return sql<number>`(${context.capacity} * ${sql.lit(context.historyShare)} / 100)`
}
