import { type RawBuilder, sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import type { Account, Usage } from '../../core/users/account-ledger.ts'
import type { CommittedUpload } from '../../core/uploads/upload-ledger.ts'
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

/** Of rows that are a `File`, in `files` or another table with its columns. */
export function fileColumns(table: 'files' | 'history'): RawBuilder<unknown> {
  const members = Object.entries(FILE_MEMBERS)
  return sql.raw(members.map(([member, column]) => `${table}.${column} AS "${member}"`).join(', '))
}

export const FILE_COLUMNS = fileColumns('files')

export const INSERT_FILE = sql.raw(`INSERT INTO files (${columns.join(', ')})`)

/** As `INSERT_FILE`, with the time and the kind of its end after the columns of the file. */
export const INSERT_PAST = sql.raw(
  `INSERT INTO history (${columns.join(', ')}, ended_at, ended_as)`,
)

/** Completes `INSERT_FILE`: replaces a file of the same name, but keeps its `created_at`. */
export const REPLACE_FILE = sql`
  ON CONFLICT (user_id, name) DO UPDATE
  SET version = excluded.version, object_key = excluded.object_key, size = excluded.size,
      sha256 = excluded.sha256, visibility = excluded.visibility, updated_at = excluded.updated_at
`

/** The part of a commit's result, besides the figures, that a repeated `commit` returns again. Stored as JSON. */
export type Outcome = Omit<CommittedUpload, 'usage'>

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
