import { sql } from 'kysely'
import type { Caller } from '../../core/users/caller.ts'
import { AppError } from '../../core/errors.ts'
import { fileNotFound, type File } from '../../core/files/file.ts'
import type { DeleteFile, UpdateFile } from '../../core/ledger/ledger.ts'
import type { Slot } from '../statement.ts'
import {
  assertPrecondition,
  bigint,
  fileNamed,
  inactiveReason,
  isActive,
  type LedgerTx,
  lockUser,
  type Rule,
  run,
} from './ledger-sql.ts'
import { garbageBytes } from './quota-rule.ts'
import { FILE_COLUMNS } from './rows.ts'

export async function deleteFile(tx: LedgerTx, request: DeleteFile): Promise<void> {
  await lockUser(tx, request.userId)
  const file = await demandedFile(tx, request)
  await releaseQuota(tx, { caller: request, file })
  await discard(tx, { file, garbageDelayMs: request.garbageDelayMs })
}

export async function updateFile(tx: LedgerTx, change: UpdateFile): Promise<File> {
  const { userId, newName = change.name, garbageDelayMs } = change
  await lockUser(tx, userId)
  const file = await demandedFile(tx, change)
  const replaced =
    newName === file.name ? undefined : await fileNamed(tx, { userId, name: newName })
  if (replaced !== undefined && !change.overwrite) {
    throw (await inactiveReason(tx, change)) ?? fileExists()
  }
  await releaseQuota(tx, { caller: change, file: replaced })
  if (replaced !== undefined) await discard(tx, { file: replaced, garbageDelayMs })
  const { rows } = await sql<File>`
    UPDATE files
    SET name = ${newName}, visibility = ${change.visibility ?? file.visibility},
        updated_at = ${tx.now}
    WHERE user_id = ${userId} AND name = ${file.name}
    RETURNING ${FILE_COLUMNS}
  `.execute(tx.db)
  if (rows[0] === undefined) throw new TypeError('UPDATE ... RETURNING returned no row')
  return rows[0]
}

async function demandedFile(tx: LedgerTx, request: DeleteFile): Promise<File> {
  const file = await fileNamed(tx, request)
  if (file === undefined) throw (await inactiveReason(tx, request)) ?? fileNotFound()
  await assertPrecondition(tx, { ...request, file })
  return file
}

/** Frees the bytes of a removed or replaced file, if any. Its WHERE decides whether the user may write. */
async function releaseQuota(
  tx: LedgerTx,
  { caller, file }: { readonly caller: Caller; readonly file: File | undefined },
): Promise<void> {
  const released = await sql`
    UPDATE quotas
    SET used_bytes = used_bytes - ${file?.size ?? 0},
        file_count = file_count - ${file === undefined ? 0 : 1}
    WHERE user_id = ${caller.userId} AND ${isActive(bigint(caller.userCreatedAt))}
  `.execute(tx.db)
  if (released.numAffectedRows === 1n) return
  throw (await inactiveReason(tx, caller)) ?? new TypeError('An active user has no quota')
}

interface Discard {
  readonly file: File
  readonly garbageDelayMs: number
}

async function discard(tx: LedgerTx, { file, garbageDelayMs }: Discard): Promise<void> {
  const { userId, name } = file
  await sql`DELETE FROM files WHERE user_id = ${userId} AND name = ${name}`.execute(tx.db)
  await discardObject(tx, { file, garbageDelayMs })
}

export async function discardObject(
  tx: LedgerTx,
  { file, garbageDelayMs }: Discard,
): Promise<void> {
  await run(tx, insertGarbage, { ...file, garbageDelayMs })
}

function insertGarbage(slot: Slot<File & Pick<Discard, 'garbageDelayMs'>>, { now }: Rule) {
  return sql`
    INSERT INTO garbage (object_key, not_before, user_id, bytes)
    VALUES (${slot('objectKey')}, ${now} + ${slot('garbageDelayMs')}, ${slot('userId')},
            ${garbageBytes(bigint(slot('size')))})
  `
}

function fileExists(): AppError {
  return new AppError('file_exists', 'Another file already has the new name.')
}
