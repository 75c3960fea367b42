import { sql } from 'kysely'
import type { FileChange } from '../../core/files/change.ts'
import { fileExists, fileNotFound, type File } from '../../core/files/file.ts'
import type { DeleteFile, UpdateFile } from '../../core/files/file-ledger.ts'
import { updatedFile } from '../../core/files/update.ts'
import { applyChanges, endExpired } from '../ledger/apply-changes.ts'
import {
  assertPrecondition,
  fileNamed,
  inactiveReason,
  isCurrent,
  type LedgerTx,
  lockUser,
} from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'

export async function deleteFile(tx: LedgerTx, request: DeleteFile): Promise<void> {
  const { userId, userCreatedAt, garbageDelayMs } = request
  await lockUser(tx, userId)
  const { old } = await demandedFile(tx, request)
  const changes: FileChange[] = [{ type: 'deleted', old }]
  await applyChanges(tx, { userId, userCreatedAt, changes, garbageDelayMs })
}

export async function updateFile(tx: LedgerTx, change: UpdateFile): Promise<File> {
  const { userId, userCreatedAt, newName: name = change.name, garbageDelayMs } = change
  await lockUser(tx, userId)
  const { old, now } = await demandedFile(tx, change)
  const { file: displaced, expired } =
    name === old.name ? NOTHING : await fileNamed(tx, { userId, name })
  if (displaced !== undefined && !change.overwrite) {
    throw (await inactiveReason(tx, change)) ?? fileExists()
  }
  const file = updatedFile(old, change, now)
  const changes: FileChange[] = [...endExpired(expired), { type: 'updated', file, old }]
  if (displaced !== undefined) changes.unshift({ type: 'deleted', old: displaced })
  await applyChanges(tx, { userId, userCreatedAt, changes, garbageDelayMs })
  return file
}

const NOTHING = { file: undefined, expired: undefined }

async function demandedFile(tx: LedgerTx, request: DeleteFile) {
  const { userId, name } = request
  const { rows } = await sql<File & { readonly now: number }>`
    SELECT ${FILE_COLUMNS}, ${tx.now} AS now FROM files
    WHERE user_id = ${userId} AND name = ${name} AND ${isCurrent(tx)}
  `.execute(tx.db)
  if (rows[0] === undefined) throw (await inactiveReason(tx, request)) ?? fileNotFound()
  const { now, ...old } = rows[0]
  await assertPrecondition(tx, request, old)
  return { old, now }
}
