import { type RawBuilder, sql } from 'kysely'
import { MAX_BYTES } from '../../core/byte-size.ts'
import { type File, NEVER } from '../../core/files/file.ts'
import type { FileName, FileNamePrefix } from '../../core/files/file-name.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { successorOf } from '../prefix-range.ts'
import type { Slot } from '../statement.ts'
import { bigint, type LedgerTx, type Rule } from './ledger-sql.ts'
import { FILE_COLUMNS } from './rows.ts'

/** Which files an upload may evict: those with the prefix, but neither kept ones nor that of its own name. */
export interface Eviction {
  readonly prefix: FileNamePrefix
  /** The first name, bytewise, after all with the prefix. */
  readonly prefixEnd: string
  readonly name: FileName
}

export function evictionOf(
  name: FileName,
  prefix: FileNamePrefix | undefined,
): Eviction | undefined {
  return prefix === undefined ? undefined : { name, prefix, prefixEnd: successorOf(prefix) ?? LAST }
}

/** After all names: UTF-8 has no such byte in a name. */
const LAST = '\u{10ffff}'.repeat(64)

/** What one commit evicts, at most. */
const MAX_EVICTED = 1_000

export interface Evictable {
  readonly bytes: RawBuilder<unknown>
  readonly files: RawBuilder<unknown>
}

/** SQL for what the upload could evict of the user in the `quotas` row. */
export function evictableFor(rule: Pick<Rule, 'now'>, slot: Slot<Eviction>): Evictable {
  const oldest = oldestFiles(rule, slot, {
    userId: sql`quotas.user_id`,
    columns: sql`files.size`,
    limit: sql.lit(MAX_EVICTED),
  })
  return {
    bytes: sql`(
      SELECT CAST(CASE WHEN total > ${MAX_BYTES} THEN ${MAX_BYTES} ELSE total END AS BIGINT)
      FROM (SELECT COALESCE(SUM(size * 1.0), 0) AS total FROM (${oldest}) AS oldest) AS evictable
    )`,
    files: sql`(SELECT COUNT(*) FROM (${oldest}) AS oldest)`,
  }
}

interface Oldest {
  readonly userId: RawBuilder<unknown>
  readonly columns: RawBuilder<unknown>
  readonly limit: RawBuilder<unknown>
}

/**
 * The files that would be evicted first: expired ones, then by `updated_at`. Each part reads an index in its order. The
 * name is no key of them, so names without the prefix are read and left out.
 */
function oldestFiles(
  { now }: Pick<Rule, 'now'>,
  slot: Slot<Eviction>,
  { userId, columns, limit }: Oldest,
): RawBuilder<unknown> {
  const part = (rank: number, where: RawBuilder<unknown>) => sql`
    SELECT * FROM (
      SELECT ${columns}, ${sql.lit(rank)} AS rank, files.updated_at AS age, files.name AS named
      FROM files
      WHERE files.user_id = ${userId} AND ${where} AND files.is_kept = 0
        AND files.name >= ${slot('prefix')} AND files.name < ${slot('prefixEnd')}
        AND files.name <> ${slot('name')}
      ORDER BY files.updated_at, files.name LIMIT ${limit}
    ) AS ${sql.id(`part${rank}`)}
  `
  const expired = sql`files.expires_at < ${sql.lit(NEVER)} AND files.expires_at <= ${now}`
  // The first condition is that of the index, and holds for every file.
  const current = sql`files.updated_at >= 0 AND files.expires_at > ${now}`
  return sql`${part(0, expired)} UNION ALL ${part(1, current)} ORDER BY rank, age, named LIMIT ${limit}`
}

interface Shortage {
  readonly bytes: number
  readonly files: number
}

/** The oldest files that make up for the shortage; `undefined` if all that may be evicted do not. Under the user's lock. */
export async function chooseEvicted(
  tx: LedgerTx,
  {
    userId,
    shortage,
    eviction,
  }: {
    readonly userId: UserId
    readonly shortage: Shortage
    readonly eviction: Eviction
  },
): Promise<readonly File[] | undefined> {
  if (shortage.bytes <= 0 && shortage.files <= 0) return []
  for (const limit of [FIRST_READ, MAX_EVICTED]) {
    const files = await readOldest(tx, { userId, eviction, limit })
    const chosen = upTo(files, shortage)
    if (chosen !== undefined) return chosen
    if (files.length < limit) return undefined
  }
  return undefined
}

/** Most uploads evict one file, or a few. */
const FIRST_READ = 16

async function readOldest(
  tx: LedgerTx,
  {
    userId,
    eviction,
    limit,
  }: {
    readonly userId: UserId
    readonly eviction: Eviction
    readonly limit: number
  },
): Promise<readonly File[]> {
  const slot: Slot<Eviction> = (member) => sql`${eviction[member]}`
  const { rows } = await sql<File & { rank: number; age: number; named: string }>`
    ${oldestFiles(tx, slot, { userId: sql`${userId}`, columns: FILE_COLUMNS, limit: bigint(limit) })}
  `.execute(tx.db)
  return rows.map(({ rank: _rank, age: _age, named: _named, ...file }) => file)
}

function upTo(files: readonly File[], shortage: Shortage): readonly File[] | undefined {
  let { bytes } = shortage
  let count = 0
  for (const { size } of files) {
    if (bytes <= 0 && count >= shortage.files) break
    bytes -= size
    count += 1
  }
  return bytes <= 0 && count >= shortage.files ? files.slice(0, count) : undefined
}
