import { sql } from 'kysely'
import type { FileChange } from '../../core/files/change.ts'
import { fileExists, fileNotFound, type File } from '../../core/files/file.ts'
import type { DeleteFile, UpdateFile } from '../../core/files/file-ledger.ts'
import { applyChanges } from '../ledger/apply-changes.ts'
import {
  assertPrecondition,
  fileNamed,
  inactiveReason,
  type LedgerTx,
  lockUser,
} from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'

export async function deleteFile(tx: LedgerTx, request: DeleteFile): Promise<void> {
  await lockUser(tx, request.userId)
  const { old } = await demandedFile(tx, request)
  await applyChanges(tx, { ...request, changes: [{ type: 'deleted', old }] })
}

export async function updateFile(tx: LedgerTx, change: UpdateFile): Promise<File> {
  const { userId, newName: name = change.name } = change
  await lockUser(tx, userId)
  const { old, now } = await demandedFile(tx, change)
  const displaced = name === old.name ? undefined : await fileNamed(tx, { userId, name })
  if (displaced !== undefined && !change.overwrite) {
    throw (await inactiveReason(tx, change)) ?? fileExists()
  }
  const visibility = change.visibility ?? old.visibility
  const file = { ...old, name, visibility, updatedAt: now }
  const changes: FileChange[] = [{ type: 'updated', file, old }]
  if (displaced !== undefined) changes.unshift({ type: 'deleted', old: displaced })
  await applyChanges(tx, { ...change, changes })
  return file
}

async function demandedFile(tx: LedgerTx, request: DeleteFile) {
  const { userId, name } = request
  const { rows } = await sql<File & { readonly now: number }>`
    SELECT ${FILE_COLUMNS}, ${tx.now} AS now FROM files WHERE user_id = ${userId} AND name = ${name}
  `.execute(tx.db)
  if (rows[0] === undefined) throw (await inactiveReason(tx, request)) ?? fileNotFound()
  const { now, ...old } = rows[0]
  await assertPrecondition(tx, { ...request, file: old })
  return { old, now }
}
