import { type RawBuilder, sql } from 'kysely'
import type { FileName } from '../../core/files/file-name.ts'
import type { File } from '../../core/files/file.ts'
import { commonPrefixOf, type RollUp } from '../../core/files/listing.ts'
import type { ListFiles } from '../../core/files/file-ledger.ts'
import { successorOf } from '../prefix-range.ts'
import { isCurrent, isListedOwner, type LedgerTx } from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'
import { VISIBLE_TO } from './find-file.ts'
import { boundsOf, isDescending, LAST_NAME } from './list-bounds.ts'
import type { FoundFile } from './listed-page.ts'

/**
 * Reads up to `limit` names in order, of each common prefix only the first that has not expired: from there, the next
 * search in the index begins after the prefix. Reads at most twice as many rows.
 */
export async function readRolledUp(tx: LedgerTx, page: ListFiles): Promise<readonly FoundFile[]> {
  const { rollUp } = page
  if (rollUp === undefined) throw new TypeError('The listing has no delimiter')
  const stops = await readStops(tx, page, rollUp)
  const shown = stops.filter(({ name, is_current }) => {
    return is_current === 1 && commonPrefixOf(name, page) === undefined
  })
  const names = shown.map(({ name }) => name)
  const files = names.length === 0 ? [] : await readNamed(tx, page, names)
  const byName = new Map(files.map((file) => [file.name, file]))
  return stops.map(({ name, is_current }) => ({
    name,
    isCurrent: is_current === 1,
    file: byName.get(name),
  }))
}

interface Stop {
  readonly name: FileName
  readonly is_current: number
}

/** A loose index scan: each step is one search. It yields one value, so the name has a flag before it. */
async function readStops(tx: LedgerTx, page: ListFiles, rollUp: RollUp): Promise<readonly Stop[]> {
  const { userId, audience, limit } = page
  const ordered = isDescending(page) ? sql`name DESC` : sql`name`
  const search = (bounds: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
    SELECT CASE WHEN ${isCurrent(tx)} THEN '1' ELSE '0' END || name FROM files
    WHERE user_id = ${userId} AND ${VISIBLE_TO[audience]} AND ${bounds}
    ORDER BY ${ordered} LIMIT 1
  )`
  const { rows } = await sql<Stop>`
    WITH RECURSIVE walk (step, found) AS (
      SELECT 1, ${search(boundsOf(page))} FROM users
      WHERE ${isListedOwner(page)}
      UNION ALL
      SELECT step + 1, ${search(boundsAfterStop(tx, page, rollUp))} FROM walk
      WHERE found IS NOT NULL AND step < ${sql.lit(limit)}
    )
    SELECT substr(found, 2) AS name, CASE substr(found, 1, 1) WHEN '1' THEN 1 ELSE 0 END AS is_current
    FROM walk WHERE found IS NOT NULL ORDER BY step
  `.execute(tx.db)
  return rows
}

/** SQL for the names after `walk.found` and, if it is current, after its common prefix. */
function boundsAfterStop(
  { indexOf }: LedgerTx,
  page: ListFiles,
  { delimiter, prefix }: RollUp,
): RawBuilder<unknown> {
  const length = Array.from(prefix).length
  // The flag and the prefix are before it. Characters count from 1; 0 is none.
  const cut = indexOf(sql`substr(found, ${sql.lit(length + 2)})`, sql`${delimiter}`)
  const common = sql`substr(found, 2, ${sql.lit(length)} + ${cut})`
  const isRolledUp = sql`substr(found, 1, 1) = '1' AND ${cut} > 0`
  const last = isDescending(page) ? common : sql`${common} || ${LAST_NAME}`
  const beyond = isDescending(page) ? sql`<` : sql`>`
  const end = isDescending(page) ? sql`AND name >= ${page.prefix}` : endOf(page)
  return sql`name ${beyond} CASE WHEN ${isRolledUp} THEN ${last} ELSE substr(found, 2) END ${end}`
}

function endOf({ prefix }: ListFiles): RawBuilder<unknown> {
  const end = successorOf(prefix)
  return end === undefined ? sql`` : sql`AND name < ${end}`
}

/** Those of the names that the viewer may see and that have not expired. */
export async function readNamed(
  tx: LedgerTx,
  { userId, audience }: ListFiles,
  names: readonly FileName[],
): Promise<readonly File[]> {
  const { rows } = await sql<File>`
    SELECT ${FILE_COLUMNS} FROM files
    WHERE user_id = ${userId} AND name IN (${sql.join(names)})
      AND ${VISIBLE_TO[audience]} AND ${isCurrent(tx)}
  `.execute(tx.db)
  return rows
}
