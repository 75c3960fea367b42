import { type RawBuilder, sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import type { Audience } from '../../core/files/listing.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { CommittedUpload, FindFile } from '../../core/ledger/ledger.ts'
import type { ObjectKey } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Version } from '../../core/objects/version.ts'
import type { LedgerTx } from './ledger-sql.ts'
import type { FileRow, UploadRow } from '../schema.ts'

/** The database's time; reading it proves that the database answers. */
export async function readClock({ db, now }: LedgerTx): Promise<number> {
  const { rows } = await sql<{ readonly now: number }>`SELECT ${now} AS now`.execute(db)
  return rows[0]?.now ?? Number.NaN
}

interface NamedFile {
  readonly userId: UserId
  readonly name: FileName
}

/**
 * The file as its audience sees it: none when its user is suspended or deleted. What may not be seen is not answered either, so
 * that it takes no longer than what is not there.
 */
export async function findFile({ db }: LedgerTx, file: FindFile): Promise<File | undefined> {
  const { userId, userCreatedAt, name, audience } = file
  const { rows } = await sql<FileRow>`
    SELECT ${FILE_COLUMNS} FROM files JOIN users ON users.id = files.user_id
    WHERE files.user_id = ${userId} AND files.name = ${name} AND users.status = 'active'
      ${createdAt(userCreatedAt)} ${VISIBLE_TO[audience]}
  `.execute(db)
  return rows[0] && toFile(rows[0])
}

/**
 * The same of many at once, each or `undefined` in the order of `files`; on PostgreSQL alone. Each is looked up by itself,
 * whatever the planner thinks of how many there are.
 */
export async function findFiles(
  { db }: LedgerTx,
  files: readonly FindFile[],
): Promise<readonly (File | undefined)[]> {
  const { rows } = await sql<FileRow & { readonly at: number }>`
    SELECT wanted.at, found.*
    FROM unnest(
      CAST(${files.map(({ userId }) => userId)} AS TEXT[]), CAST(${files.map(({ name }) => name)} AS TEXT[]),
      CAST(${files.map(({ audience }) => audience)} AS TEXT[]),
      CAST(${files.map(({ userCreatedAt }) => userCreatedAt ?? null)} AS BIGINT[])
    ) WITH ORDINALITY AS wanted (user_id, name, audience, user_created_at, at)
    CROSS JOIN LATERAL (
      SELECT ${FILE_COLUMNS} FROM files JOIN users ON users.id = files.user_id
      WHERE files.user_id = wanted.user_id AND files.name = wanted.name AND users.status = 'active'
        AND users.created_at = COALESCE(wanted.user_created_at, users.created_at)
        AND (
          wanted.audience = 'owner'
          OR (wanted.audience = 'users' AND files.visibility <> 'private')
          OR files.visibility = 'public'
        )
      LIMIT 1
    ) AS found
  `.execute(db)
  const found = new Map(rows.map((row) => [row.at, toFile(row)]))
  return files.map((_, index) => found.get(index + 1))
}

/** SQL that tells the statement's row of `users` from another user of the same id; nothing where no creation is given. */
export function createdAt(userCreatedAt: number | undefined): RawBuilder<unknown> {
  return userCreatedAt === undefined ? sql`` : sql`AND users.created_at = ${userCreatedAt}`
}

/** In the words of the partial indexes. */
export const VISIBLE_TO = {
  owner: sql``,
  users: sql`AND files.visibility <> 'private'`,
  anyone: sql`AND files.visibility = 'public'`,
} as const satisfies Record<Audience, RawBuilder<unknown>>

/** Those of a `FileRow`, whatever a migration adds. */
export const FILE_COLUMNS = sql`
  files.user_id, files.name, files.version, files.object_key, files.size, files.sha256,
  files.visibility, files.created_at, files.updated_at
`

/** The file on the books, whatever its user's status. */
export async function fileNamed(
  { db }: LedgerTx,
  { userId, name }: NamedFile,
): Promise<File | undefined> {
  const { rows } = await sql<FileRow>`
    SELECT ${FILE_COLUMNS} FROM files WHERE user_id = ${userId} AND name = ${name}
  `.execute(db)
  return rows[0] && toFile(rows[0])
}

export interface FoundUpload extends NamedFile {
  readonly objectKey: ObjectKey
  readonly reserved: number
  readonly state: UploadRow['state']
  /** JSON, when the upload is committed. */
  readonly outcome: string | undefined
  /** When it was read. */
  readonly now: number
}

type FoundRow = Pick<
  UploadRow,
  'user_id' | 'name' | 'object_key' | 'reserved_bytes' | 'state' | 'outcome'
> & { readonly now: number }

export async function findUpload(
  { db, now }: LedgerTx,
  { userId, version }: { readonly userId: UserId; readonly version: Version },
): Promise<FoundUpload | undefined> {
  const { rows } = await sql<FoundRow>`
    SELECT user_id, name, object_key, reserved_bytes, state, outcome, ${now} AS now FROM uploads
    WHERE version = ${version} AND user_id = ${userId}
  `.execute(db)
  const row = rows[0]
  return (
    row && {
      userId: row.user_id,
      name: row.name,
      objectKey: row.object_key,
      reserved: row.reserved_bytes,
      state: row.state,
      outcome: row.outcome ?? undefined,
      now: row.now,
    }
  )
}

/** Whether a file of the user is of that version now. */
export async function isCurrent(
  { db }: LedgerTx,
  { userId, version }: { readonly userId: UserId; readonly version: Version },
): Promise<boolean> {
  const { rows } = await sql`
    SELECT version FROM files WHERE version = ${version} AND user_id = ${userId}
  `.execute(db)
  return rows.length === 1
}

/** Reads back what `commit` recorded. */
export function parseOutcome(outcome: string): Omit<CommittedUpload, 'usage'> {
  return JSON.parse(outcome) as Omit<CommittedUpload, 'usage'>
}

/** A row of `files` as core knows it. */
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
