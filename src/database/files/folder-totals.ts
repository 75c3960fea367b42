import { sql } from 'kysely'
import { type FolderTotals, MAX_COUNTED_FILES, MAX_FOLDER_FILES } from '../../core/files/listing.ts'
import type { FileNamePrefix } from '../../core/files/file-name.ts'
import type { ListFiles } from '../../core/files/file-ledger.ts'
import { isCurrent, type LedgerTx, listedOwner } from '../ledger/ledger-sql.ts'
import { isInRange } from '../prefix-range.ts'
import { isListed } from './find-file.ts'

/** One more tells that there are too many. */
const ROWS_OF_FOLDER = MAX_FOLDER_FILES + 1

/** Of the files that are counted for one page. */
const MAX_ROWS = (MAX_COUNTED_FILES / MAX_FOLDER_FILES) * ROWS_OF_FOLDER

/** See `ListedFiles.totals`. */
export async function readFolderTotals(
  tx: LedgerTx,
  page: ListFiles,
  prefixes: readonly FileNamePrefix[],
): Promise<readonly (FolderTotals | undefined)[]> {
  const totals: (FolderTotals | undefined)[] = []
  for (let left = MAX_ROWS; totals.length < prefixes.length;) {
    // The prefixes that one statement can count in the rows that are left.
    const count = Math.floor(left / ROWS_OF_FOLDER)
    if (count === 0) break
    const counted = await countBelow(tx, page, prefixes.slice(totals.length, totals.length + count))
    for (const { rows, fileCount, size } of counted) {
      left -= rows
      totals.push(rows < ROWS_OF_FOLDER ? { fileCount, size } : undefined)
    }
  }
  return prefixes.map((_, at) => totals[at])
}

const IS_NO_MARKER = sql`name NOT LIKE '%/'`

interface Counted extends FolderTotals {
  readonly rows: number
}

async function countBelow(
  tx: LedgerTx,
  page: ListFiles,
  prefixes: readonly FileNamePrefix[],
): Promise<readonly Counted[]> {
  const selects = prefixes.map((common, at) => {
    // The prefix of a scope can be longer.
    const prefix = page.prefix.startsWith(common) ? page.prefix : common
    return sql`
      SELECT ${sql.lit(at)} AS at, COUNT(*) AS rows,
        COALESCE(SUM(CASE WHEN ${isCurrent(tx)} AND ${IS_NO_MARKER} THEN 1 ELSE 0 END), 0) AS "fileCount",
        CAST(COALESCE(SUM(CASE WHEN ${isCurrent(tx)} THEN size ELSE 0 END), 0) AS BIGINT) AS size
      FROM (
        SELECT name, size, expires_at FROM files
        WHERE user_id = ${listedOwner(page)} AND ${isListed(page)}
          AND ${isInRange(sql`name`, { prefix, after: '' })}
        ORDER BY name LIMIT ${sql.lit(ROWS_OF_FOLDER)}
      ) AS files
    `
  })
  const { rows } = await sql<Counted & { readonly at: number }>`
    SELECT at, rows, "fileCount", size FROM (${sql.join(selects, sql` UNION ALL `)}) AS counted ORDER BY at
  `.execute(tx.db)
  return rows
}
