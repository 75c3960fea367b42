import { type RawBuilder, sql } from 'kysely'
import type { File, FileVersion } from '../../core/files/file.ts'
import type { Account, Usage } from '../../core/users/account-ledger.ts'
import type { Evicted } from '../../core/uploads/upload-ledger.ts'
import type { User } from '../../core/users/user-store.ts'
import type { FileRow, UserRow } from '../schema.ts'
import type { Slot } from '../statement.ts'

/** A row of a statement that names its columns as the members of `T`, with NULL for `undefined`. */
export type Row<T> = {
  readonly [M in keyof T]: undefined extends T[M] ? Exclude<T[M], undefined> | null : T[M]
}

export function fromRow<T>(row: Row<T>): T {
  const members = Object.entries(row).map(([member, value]) => [member, value ?? undefined])
  return Object.fromEntries(members) as T
}

/** Columns by `FileVersion` member, in the order of `INSERT_PAST`. */
const VERSION_MEMBERS = {
  userId: 'user_id',
  name: 'name',
  version: 'version',
  objectKey: 'object_key',
  size: 'size',
  sha256: 'sha256',
  crc32: 'crc32',
  visibility: 'visibility',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  mediaType: 'media_type',
  metadata: 'metadata',
  deviceId: 'device_id',
} as const satisfies Record<keyof FileVersion, keyof FileRow>

/** Columns by `File` member, in the order of `INSERT_FILE`. */
const FILE_MEMBERS = {
  ...VERSION_MEMBERS,
  expiresAt: 'expires_at',
  isKept: 'is_kept',
  metadataBytes: 'metadata_bytes',
  modifiedAt: 'modified_at',
  storedBy: 'stored_by',
} as const satisfies Record<keyof File, keyof FileRow>

function columnsOf(table: string, members: Readonly<Record<string, string>>): RawBuilder<unknown> {
  const columns = Object.entries(members).map(
    ([member, column]) => `${table}.${column} AS "${member}"`,
  )
  return sql.raw(columns.join(', '))
}

/** Of rows of `files` that are a `File`. */
export const FILE_COLUMNS = columnsOf('files', FILE_MEMBERS)

/** Of rows of `history` that are a `FileVersion`. */
export const VERSION_COLUMNS = columnsOf('history', VERSION_MEMBERS)

export const INSERT_FILE = sql.raw(`INSERT INTO files (${Object.values(FILE_MEMBERS).join(', ')})`)

/** As `INSERT_FILE`, with what is said of its end after the columns of the version. */
export const INSERT_PAST = sql.raw(
  `INSERT INTO history (${Object.values(VERSION_MEMBERS).join(', ')}, ended_at, ended_as, expires_at, stored_by,
    ended_by, is_protected)`,
)

export const MEMBERS_OF_VERSION = Object.keys(VERSION_MEMBERS) as (keyof FileVersion)[]
export const MEMBERS_OF_FILE = Object.keys(FILE_MEMBERS) as (keyof File)[]

/** The values of `INSERT_PAST`, but for those of its end. */
export function versionValues(slot: Slot<FileVersion>): RawBuilder<unknown> {
  return sql.join(MEMBERS_OF_VERSION.map((member) => slot(member)))
}

/** The values of `INSERT_FILE`. */
export function fileValues(slot: Slot<File>): RawBuilder<unknown> {
  return sql.join(MEMBERS_OF_FILE.map((member) => slot(member)))
}

/**
 * Completes `INSERT_FILE`: replaces all of a file of the same name, but for the key, because SQLite rewrites every index
 * that has a listed column.
 */
export const OVERWRITE_FILE = sql.raw(
  `ON CONFLICT (user_id, name) DO UPDATE SET ${Object.values(FILE_MEMBERS)
    .filter((column) => column !== 'user_id' && column !== 'name')
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}`,
)

/** Completes `INSERT_FILE`: replaces a file of the same name, but keeps its `created_at` and `is_kept`. */
export const REPLACE_FILE = sql`
  ON CONFLICT (user_id, name) DO UPDATE
  SET version = excluded.version, object_key = excluded.object_key, size = excluded.size,
      sha256 = excluded.sha256, crc32 = excluded.crc32, visibility = excluded.visibility, updated_at = excluded.updated_at,
      expires_at = excluded.expires_at, media_type = excluded.media_type, metadata = excluded.metadata,
      metadata_bytes = excluded.metadata_bytes,
      modified_at = excluded.modified_at, stored_by = excluded.stored_by,
      device_id = excluded.device_id
`

/** The part of a commit's result, besides the figures, that a repeated `commit` returns again. Stored as JSON. */
export interface Outcome {
  readonly file: File
  readonly replaced: boolean
  readonly evicted?: Evicted | undefined
}

/** PostgreSQL for the JSON of an `Outcome`; `file` names a row with `FILE_COLUMNS`. */
export function outcomeJson({ file, replaced }: { file: string; replaced: RawBuilder<unknown> }) {
  const members = Object.keys(FILE_MEMBERS).map((member) =>
    sql.join([sql.lit(member), sql.ref(`${file}.${member}`)]),
  )
  return sql`json_build_object('file', json_build_object(${sql.join(members)}), 'replaced', ${replaced})`
}

/** Of rows that are a `Usage`, but for the capacity. */
export const USAGE_COLUMNS = sql`
  used_bytes AS used, reserved_bytes AS reserved, file_count AS "fileCount"
`

export function toUser(row: UserRow): User {
  return { userId: row.id, status: row.status, createdAt: row.created_at }
}

export type AccountRow = UserRow & Usage

export function toAccount(row: AccountRow): Account {
  return { user: toUser(row), usage: usageIn(row) }
}

/** Leaves out the other columns of a row. */
export function usageIn({ capacity, used, reserved, fileCount }: Usage): Usage {
  return { capacity, used, reserved, fileCount }
}
