import type {
  ArchivedFile,
  ChangeFiles,
  FileLedger,
  SelectFiles,
} from '../../core/files/file-ledger.ts'
import { type BatchOperation, MAX_OPERATIONS } from '../../core/files/operation.ts'
import type { LedgerWrite } from '../../core/uploads/ledger-space.ts'
import type { Operations } from '../operations/operation.ts'
import { createFindFile } from './find-file.ts'
import { listFiles } from './list.ts'
import { changeFiles, deleteFile, updateFile } from './change-files.ts'
import { sql } from 'kysely'
import { isCurrent, type LedgerTx } from '../ledger/ledger-sql.ts'
import { isInRange } from '../prefix-range.ts'

export const FILE_OPERATIONS = {
  findFile: { bind: ({ database }) => createFindFile(database), effect: 'reads' },
  listFiles: { through: 'readInOrder', run: listFiles, effect: 'reads' },
  selectFiles: { through: 'readInOrder', run: selectFiles, effect: 'reads' },
  deleteFile: { through: 'change', run: deleteFile, effect: 'ends' },
  updateFile: { through: 'change', run: updateFile, effect: 'grows' },
  changeFiles: { through: 'change', run: changeFiles, effect: effectOf },
} as const satisfies Operations<FileLedger>

function effectOf({ operations }: ChangeFiles): LedgerWrite {
  const isDeletion = operations.every(({ op }) => op === 'delete' || op === 'delete-prefix')
  const rows = operations.reduce((sum, operation) => sum + rowsOf(operation), 0)
  return { kind: isDeletion ? 'ends' : 'grows', rows: Math.min(rows, 2 * MAX_OPERATIONS) }
}

/** Two for each file if the operation can end another file, or move the row of its own in all indexes. */
function rowsOf(operation: BatchOperation): number {
  switch (operation.op) {
    case 'delete':
      return 1
    case 'update':
      return operation.newName === undefined ? 1 : 2
    case 'restore':
      return 2
    // How many files they match is known later.
    case 'delete-prefix':
      return MAX_OPERATIONS
    case 'rename-prefix':
      return 2 * MAX_OPERATIONS
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
    SELECT name, object_key AS "objectKey", size, crc32, updated_at AS "updatedAt",
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
  return found.map(({ is_current: _isCurrent, ...file }) => file)
}
