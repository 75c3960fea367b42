import type { FileLedger, ArchivedFile, SelectFiles } from '../../core/files/file-ledger.ts'
import type { Session } from '../ledger/session.ts'
import { createFindFile } from './find-file.ts'
import { listFiles } from './list.ts'
import { changeFiles, deleteFile, updateFile } from './change-files.ts'
import { sql } from 'kysely'
import { isCurrent, type LedgerTx } from '../ledger/ledger-sql.ts'
import { isInRange } from '../prefix-range.ts'

export function createFileLedger({ database, change, readInOrder }: Session): FileLedger {
  return {
    findFile: createFindFile(database),
    listFiles: (page) => readInOrder((tx) => listFiles(tx, page)),
    selectFiles: (wanted) => readInOrder((tx) => selectFiles(tx, wanted)),
    deleteFile: (file) => change(file.userId, (tx) => deleteFile(tx, file)),
    updateFile: (file) => change(file.userId, (tx) => updateFile(tx, file)),
    changeFiles: (batch) => change(batch.userId, (tx) => changeFiles(tx, batch)),
  }
}

type Row = ArchivedFile & { readonly is_current: number }

/** One statement, which sees one instant. */
async function selectFiles(
  tx: LedgerTx,
  { userId, userCreatedAt, selected, limit }: SelectFiles,
): Promise<readonly ArchivedFile[]> {
  const { names, prefix } = selected
  if (names?.length === 0) return []
  const isSelected =
    names === undefined
      ? isInRange(sql`name`, { prefix, after: '' })
      : sql`name IN (${sql.join(names)})`
  const { rows } = await sql<Row>`
    SELECT name, object_key AS "objectKey", size, updated_at AS "updatedAt",
      CASE WHEN ${isCurrent(tx)} THEN 1 ELSE 0 END AS is_current
    FROM files
    WHERE user_id = (
        SELECT id FROM users
        WHERE id = ${userId} AND created_at = ${userCreatedAt} AND status <> 'deleted'
      )
      AND ${isSelected}
    ORDER BY name LIMIT ${limit}
  `.execute(tx.db)
  const found = rows.length === limit ? rows : rows.filter((row) => row.is_current === 1)
  return found.map(({ name, objectKey, size, updatedAt }) => ({ name, objectKey, size, updatedAt }))
}
