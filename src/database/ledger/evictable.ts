import { type RawBuilder, sql } from 'kysely'
import {
  type FileName,
  type FileNamePrefix,
  MAX_FILE_NAME_BYTES,
} from '../../core/files/file-name.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { successorOf } from '../prefix-range.ts'
import type { Slot } from '../statement.ts'
import { bigint } from './ledger-sql.ts'

/** An upload that may evict files of its user with a prefix. */
export interface Eviction {
  readonly userId: UserId
  /** Of the upload; empty before it has begun. */
  readonly version: Version | ''
  readonly prefix: FileNamePrefix
  /** The first name, bytewise, after all with the prefix. */
  readonly prefixEnd: string
  readonly name: FileName
  /** Set if only files of this device are to be evicted, for its share. */
  readonly deviceId: string | null
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
  const prefixEnd = successorOf(prefix) ?? LAST
  return { userId, version, name, prefix, prefixEnd, deviceId: null }
}

/** After all names: the last code point, repeated beyond the maximum length of a name. */
const LAST = '\u{10ffff}'.repeat(Math.ceil((MAX_FILE_NAME_BYTES + 1) / 4))

/** What an upload lacks, in bytes and in the number of files. */
export interface Shortage {
  readonly bytes: number
  readonly files: number
}

/** What an upload that evicts would evict: just enough, or all that it may if that is too little. */
export interface Room extends Eviction {
  readonly evictableBytes: number
  readonly evictableFiles: number
  /** Of these bytes, those of the upload's device. */
  readonly ownBytes: number
  /** Whether it may evict no more than that. */
  readonly isAll: boolean
}

export interface Evictable {
  readonly bytes: RawBuilder<unknown>
  readonly files: RawBuilder<unknown>
  readonly unclaimed: Unclaimed
}

export function evictableIn(slot: Slot<Room>): Evictable {
  return {
    bytes: bigint(slot('evictableBytes')),
    files: bigint(slot('evictableFiles')),
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
  const awaited = awaitedOf(sql`reserved_bytes`)
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

/** SQL for what of a reservation an unfinished resumable upload has not received; 0 for other uploads. */
export function awaitedOf(reserved: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE WHEN received < ${reserved} THEN ${reserved} - received ELSE 0 END`
}
