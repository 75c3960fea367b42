import { type RawBuilder, sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import type { Account, CommittedUpload, Usage } from '../../core/ledger/ledger.ts'
import type { User } from '../../core/users/user-store.ts'
import type { FileRow, UserRow } from '../schema.ts'

/** Columns by `File` member, in the order of `INSERT_FILE`; later migrations do not change it. */
const FILE_MEMBERS = {
  userId: 'user_id',
  name: 'name',
  version: 'version',
  objectKey: 'object_key',
  size: 'size',
  sha256: 'sha256',
  visibility: 'visibility',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const satisfies Record<keyof File, keyof FileRow>

const columns = Object.values(FILE_MEMBERS)

export const FILE_COLUMNS = sql.raw(columns.map((column) => `files.${column}`).join(', '))

export const INSERT_FILE = sql.raw(`INSERT INTO files (${columns.join(', ')})`)

/** Completes `INSERT_FILE`: replaces a file of the same name, but keeps its `created_at`. */
export const REPLACE_FILE = sql`
  ON CONFLICT (user_id, name) DO UPDATE
  SET version = excluded.version, object_key = excluded.object_key, size = excluded.size,
      sha256 = excluded.sha256, visibility = excluded.visibility, updated_at = excluded.updated_at
`

export function toFile(row: FileRow): File {
  return {
    userId: row.user_id,
    name: row.name,
    version: row.version,
    objectKey: row.object_key,
    size: row.size,
    sha256: row.sha256,
    visibility: row.visibility,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** The part of a commit's result, besides the figures, that a repeated `commit` returns again. Stored as JSON. */
export type Outcome = Omit<CommittedUpload, 'usage'>

/** PostgreSQL for the JSON of an `Outcome`; `file` names a row with the columns of `files`. */
export function outcomeJson({ file, replaced }: { file: string; replaced: RawBuilder<unknown> }) {
  const members = Object.entries(FILE_MEMBERS).map(([member, column]) =>
    sql.join([sql.lit(member), sql.ref(`${file}.${column}`)]),
  )
  return sql`json_build_object('file', json_build_object(${sql.join(members)}), 'replaced', ${replaced})`
}

export interface UsageRow {
  readonly capacity: number
  readonly used_bytes: number
  readonly reserved_bytes: number
  readonly file_count: number
}

export function toUsage(row: UsageRow): Usage {
  return {
    capacity: row.capacity,
    used: row.used_bytes,
    reserved: row.reserved_bytes,
    fileCount: row.file_count,
  }
}

export function toUser(row: UserRow): User {
  return { userId: row.id, status: row.status, createdAt: row.created_at }
}

export function toAccount(row: UserRow & UsageRow): Account {
  return { user: toUser(row), usage: toUsage(row) }
}
