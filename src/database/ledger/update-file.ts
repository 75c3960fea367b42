import { sql } from 'kysely'
import type { Caller } from '../../core/users/caller.ts'
import { AppError } from '../../core/errors.ts'
import { fileNotFound, type File } from '../../core/files/file.ts'
import type { ChangeFile, RemoveFile } from '../../core/ledger/ledger.ts'
import { bigint, type Books, demand, isActive, lockUser, whyInactive } from './ledger-sql.ts'
import { garbageBytes } from './garbage-bound.ts'
import { FILE_COLUMNS, fileNamed, toFile } from './reads.ts'
import type { FileRow } from '../schema.ts'

/** Removes a file under its user's lock. */
export async function removeFile(books: Books, request: RemoveFile): Promise<void> {
  await lockUser(books, request.userId)
  const file = await demandedFile(books, request)
  await releaseQuota(books, { caller: request, file })
  await discard(books, { file, garbageDelayMs: request.garbageDelayMs })
}

/** Renames a file or changes its visibility under its user's lock. */
export async function changeFile(books: Books, change: ChangeFile): Promise<File> {
  const { userId, newName = change.name, garbageDelayMs } = change
  await lockUser(books, userId)
  const file = await demandedFile(books, change)
  const replaced =
    newName === file.name ? undefined : await fileNamed(books, { userId, name: newName })
  if (replaced !== undefined && !change.overwrite) {
    throw (await whyInactive(books, change)) ?? fileExists()
  }
  await releaseQuota(books, { caller: change, file: replaced })
  if (replaced !== undefined) await discard(books, { file: replaced, garbageDelayMs })
  const { rows } = await sql<FileRow>`
    UPDATE files
    SET name = ${newName}, visibility = ${change.visibility ?? file.visibility},
        updated_at = ${books.now}
    WHERE user_id = ${userId} AND name = ${file.name}
    RETURNING ${FILE_COLUMNS}
  `.execute(books.db)
  if (rows[0] === undefined) throw new TypeError('UPDATE ... RETURNING returned no row')
  return toFile(rows[0])
}

async function demandedFile(books: Books, request: RemoveFile): Promise<File> {
  const file = await fileNamed(books, request)
  if (file === undefined) throw (await whyInactive(books, request)) ?? fileNotFound()
  await demand(books, { caller: request, precondition: request.precondition, file })
  return file
}

interface Release {
  readonly caller: Caller
  /** The file that is taken off the books, if any. */
  readonly file: File | undefined
}

/** Frees what the file used; its WHERE decides whether the user may write at all. */
async function releaseQuota(books: Books, { caller, file }: Release): Promise<void> {
  const released = await sql`
    UPDATE quotas
    SET used_bytes = used_bytes - ${file?.size ?? 0},
        file_count = file_count - ${file === undefined ? 0 : 1}
    WHERE user_id = ${caller.userId} AND ${isActive(bigint(caller.userCreatedAt))}
  `.execute(books.db)
  if (released.numAffectedRows === 1n) return
  throw (await whyInactive(books, caller)) ?? new TypeError('An active user has no quota')
}

interface Discard {
  readonly file: File
  readonly garbageDelayMs: number
}

async function discard({ db, now }: Books, { file, garbageDelayMs }: Discard): Promise<void> {
  await sql`DELETE FROM files WHERE user_id = ${file.userId} AND name = ${file.name}`.execute(db)
  await sql`
    INSERT INTO garbage (object_key, not_before, user_id, bytes)
    VALUES (${file.objectKey}, ${now} + ${garbageDelayMs}, ${file.userId},
            ${garbageBytes(bigint(file.size))})
  `.execute(db)
}

function fileExists(): AppError {
  return new AppError('file_exists', 'There is a file of the new name.')
}
