import { sql } from 'kysely'
import type { ArchivedFile, SelectFiles } from '../../core/files/file-ledger.ts'
import { isCurrent, type LedgerTx } from '../ledger/ledger-sql.ts'
import { isInRange } from '../prefix-range.ts'

type Row = ArchivedFile & { readonly is_current: number }

/** One statement, which sees one instant. */
export async function selectFiles(
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
