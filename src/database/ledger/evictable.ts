import { type RawBuilder, sql } from 'kysely'
import { MAX_BYTES } from '../../core/byte-size.ts'
import { type File, NEVER } from '../../core/files/file.ts'
import {
  type FileName,
  type FileNamePrefix,
  MAX_FILE_NAME_BYTES,
} from '../../core/files/file-name.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { successorOf } from '../prefix-range.ts'
import { inline, type Slot } from '../statement.ts'
import { bigint, type Clock, type LedgerTx } from './ledger-sql.ts'
import { FILE_COLUMNS } from './rows.ts'

/** An upload that may evict files of its user with a prefix. */
export interface Eviction {
  readonly userId: UserId
  /** Of the upload; empty before it has begun. */
  readonly version: Version | ''
  readonly prefix: FileNamePrefix
  /** The first name, bytewise, after all with the prefix. */
  readonly prefixEnd: string
  readonly name: FileName
}

interface EvictingUpload {
  readonly userId: UserId
  readonly name: FileName
  readonly version?: Version
  readonly evict?: FileNamePrefix | undefined
}

/** `undefined` for an upload that does not evict. */
export function evictionOf(upload: EvictingUpload): Eviction | undefined {
  const { userId, name, version = '', evict: prefix } = upload
  if (prefix === undefined) return undefined
  return { userId, version, name, prefix, prefixEnd: successorOf(prefix) ?? LAST }
}

/** After all names: the last code point, repeated beyond the maximum length of a name. */
const LAST = '\u{10ffff}'.repeat(Math.ceil((MAX_FILE_NAME_BYTES + 1) / 4))

/** What one commit evicts, at most. */
const MAX_EVICTED = 1_000

export interface Evictable {
  readonly bytes: RawBuilder<unknown>
  readonly files: RawBuilder<unknown>
  readonly unclaimed: Unclaimed
}

interface Measured extends Evictable {
  /** A table of one row with both, so that the files are read once. */
  readonly measured: RawBuilder<unknown>
}

/** SQL for what the upload could evict. */
export function evictableFor(rule: Clock, slot: Slot<Eviction>): Measured {
  const limit = sql.lit(MAX_EVICTED)
  const oldest = oldestFiles(rule, slot, { columns: sql`files.size`, limit })
  const measured = sql`(
    SELECT files, CAST(CASE WHEN total > ${MAX_BYTES} THEN ${MAX_BYTES} ELSE total END AS BIGINT) AS bytes
    FROM (
      SELECT COUNT(*) AS files, COALESCE(SUM(size * 1.0), 0) AS total FROM (${oldest}) AS oldest
    ) AS sums
  )`
  return {
    measured,
    bytes: sql`(SELECT bytes FROM ${measured} AS evictable)`,
    files: sql`(SELECT files FROM ${measured} AS evictable)`,
    unclaimed: unclaimedByOthers(slot),
  }
}

export interface Unclaimed {
  /** Of other uploads' reservations, the bytes for which nothing is evicted. */
  readonly reserved: RawBuilder<unknown>
  /** Those of them that unfinished resumable uploads have not received. */
  readonly awaited: RawBuilder<unknown>
}

/**
 * SQL for the reservations of other uploads for which nothing is evicted: all bytes of an upload that evicts, because it
 * makes its own room at its commit, and what an unfinished resumable upload has not received.
 */
export function unclaimedByOthers(slot: Slot<Eviction>): Unclaimed {
  const awaited = sql`CASE
    WHEN received < reserved_bytes THEN reserved_bytes - received ELSE 0
  END`
  const sumOf = (bytes: RawBuilder<unknown>) => sql`(
    SELECT CAST(COALESCE(SUM(${bytes}), 0) AS BIGINT) FROM (
      SELECT reserved_bytes, is_evicting, (
        SELECT received_bytes FROM resumable_uploads
        WHERE resumable_uploads.version = uploads.version
      ) AS received
      FROM uploads
      WHERE uploads.user_id = ${slot('userId')} AND uploads.state = 'pending'
        AND uploads.version <> ${slot('version')}
    ) AS others
  )`
  return {
    reserved: sumOf(sql`CASE WHEN is_evicting = 1 THEN reserved_bytes ELSE ${awaited} END`),
    awaited: sumOf(awaited),
  }
}

interface Oldest {
  readonly columns: RawBuilder<unknown>
  readonly limit: RawBuilder<unknown>
}

/**
 * The files that would be evicted first: expired ones, kept or not, then by `updated_at` those that are not kept. Not
 * among them are the file of the upload's own name, and those that other uploads are about to replace. Each part reads an
 * index in its order. The name is no key of them, so names without the prefix are read and left out.
 */
function oldestFiles(
  { now }: Clock,
  slot: Slot<Eviction>,
  { columns, limit }: Oldest,
): RawBuilder<unknown> {
  // Not correlated, so that it is read once.
  const beingReplaced = sql`
    SELECT uploads.name FROM uploads
    WHERE uploads.user_id = ${slot('userId')} AND uploads.state = 'pending'
      AND uploads.lease_until > ${now}
  `
  const part = (rank: number, from: RawBuilder<unknown>, where: RawBuilder<unknown>) => sql`
    SELECT * FROM (
      SELECT ${columns}, ${sql.lit(rank)} AS rank, files.updated_at AS age, files.name AS named
      FROM ${from}
      WHERE files.user_id = ${slot('userId')} AND ${where}
        AND files.name >= ${slot('prefix')} AND files.name < ${slot('prefixEnd')}
        AND files.name <> ${slot('name')} AND files.name NOT IN (${beingReplaced})
      ORDER BY files.updated_at, files.name LIMIT ${limit}
    ) AS ${sql.id(`part${rank}`)}
  `
  // With a limit, SQLite reads them by their index, and not all names with the prefix.
  const expired = sql`(
    SELECT * FROM files
    WHERE files.user_id = ${slot('userId')} AND files.expires_at < ${sql.lit(NEVER)}
      AND files.expires_at <= ${now}
    LIMIT ${sql.lit(MAX_BYTES)}
  ) AS files`
  // The first condition is that of the index, and holds for every file.
  const current = sql`files.updated_at >= 0 AND files.expires_at > ${now} AND files.is_kept = 0`
  return sql`${part(0, expired, sql`1 = 1`)} UNION ALL ${part(1, sql`files`, current)} ORDER BY rank, age, named LIMIT ${limit}`
}

export interface Shortage {
  readonly bytes: number
  readonly files: number
}

/** The oldest files that make up for the shortage; none if all that may be evicted do not. Under the user's lock. */
export async function chooseEvicted(
  tx: LedgerTx,
  { shortage, eviction }: { readonly shortage: Shortage; readonly eviction: Eviction },
): Promise<readonly File[]> {
  if (shortage.bytes <= 0 && shortage.files <= 0) return []
  for (const limit of [FIRST_READ, MAX_EVICTED]) {
    const files = await readOldest(tx, { eviction, limit })
    const chosen = upTo(files, shortage)
    if (chosen !== undefined) return chosen
    if (files.length < limit) break
  }
  return []
}

/** Most uploads evict one file, or a few. */
const FIRST_READ = 16

async function readOldest(
  tx: LedgerTx,
  { eviction, limit }: { readonly eviction: Eviction; readonly limit: number },
): Promise<readonly File[]> {
  const { rows } = await sql<File & { rank: number; age: number; named: string }>`
    ${oldestFiles(tx, inline(eviction), { columns: FILE_COLUMNS, limit: bigint(limit) })}
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
