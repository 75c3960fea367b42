import { type RawBuilder, sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import { type AppError, invalidParameter } from '../../core/errors.ts'
import {
  containsText,
  type FilePosition,
  type ListedFiles,
  positionOf,
  commonPrefixOf,
  type RollUp,
  type FileOrder,
} from '../../core/files/listing.ts'
import type { ListFiles } from '../../core/files/file-ledger.ts'
import { isBelow, successorOf, isInRange } from '../prefix-range.ts'
import { scan } from '../scan.ts'
import { isCurrent, type LedgerTx, listedOwner, isListedOwner } from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'
import { isListed } from './find-file.ts'
import { readFolderTotals } from './folder-totals.ts'
import { createListedPage, type FoundFile } from './listed-page.ts'
import { type FileName, MAX_FILE_NAME_BYTES } from '../../core/files/file-name.ts'
import { MAX_BYTES } from '../../core/byte-size.ts'

/**
 * Keyset pagination: enters the index of the order at the position, and reads rows until the page is full. The rows that
 * the page does not show are read as well, and count.
 */
export async function listFiles(tx: LedgerTx, request: ListFiles): Promise<ListedFiles> {
  const page = createListedPage(request)
  if (request.hidesOthers === true && hasUnsortedPrefix(request)) {
    for (const found of await readSorted(tx, request)) if (!page.take(found)) break
    return page.end(undefined)
  }
  const { after, limit, maxScanned } = request
  // A text can only be searched in the names themselves.
  const isRolledUp = request.rollUp !== undefined && request.contains === undefined
  const ranOutAt = await scan<FoundFile, FilePosition>({
    after,
    limit: limit + 1,
    // A name that is rolled up or not takes two rows: that of the index, and the file.
    maxScanned: isRolledUp ? Math.ceil(maxScanned / 2) : maxScanned,
    read: (part) => readPart(tx, { ...request, ...part }, isRolledUp),
    take: (found) => page.take(found),
    positionAfter: (found) => page.positionAfter(found),
  })
  const listed = page.end(ranOutAt)
  if (request.countsFolders !== true) return listed
  return { ...listed, totals: await readFolderTotals(tx, request, listed.prefixes) }
}

function readPart(
  tx: LedgerTx,
  part: ListFiles,
  isRolledUp: boolean,
): Promise<readonly FoundFile[]> {
  if (isRolledUp) return readRolledUp(tx, part)
  const { contains, order } = part
  const isSearch = contains !== undefined && order.endsWith('name')
  return isSearch ? readContaining(tx, part, containsText(contains)) : readFiles(tx, part)
}

/** Of names without the text, reads only the index. Reads whole rows of the others, at most as many. */
async function readContaining(
  tx: LedgerTx,
  page: ListFiles,
  hasText: (name: string) => boolean,
): Promise<readonly FoundFile[]> {
  const { rows } = await sql<Pick<File, 'name'>>`
    SELECT name FROM files
    WHERE user_id = ${listedOwner(page)} AND ${isListed(page)} AND ${boundsOf(page)}
    ORDER BY ${ORDER[page.order]} LIMIT ${page.limit}
  `.execute(tx.db)
  const names = rows.map(({ name }) => name).filter(hasText)
  const files = names.length === 0 ? [] : await readNamed(tx, page, names)
  const byName = new Map(files.map((file) => [file.name, file]))
  return rows.map(({ name }) => {
    const file = byName.get(name)
    return { name, isCurrent: file !== undefined, file }
  })
}

/** Whether the index of the order contains files that have not the prefix. */
function hasUnsortedPrefix({ order, prefix }: ListFiles): boolean {
  return prefix !== '' && !order.endsWith('name')
}

const ORDER = {
  name: sql`name`,
  '-name': sql`name DESC`,
  updated_at: sql`updated_at, name`,
  '-updated_at': sql`updated_at DESC, name DESC`,
  size: sql`size, name`,
  '-size': sql`size DESC, name DESC`,
} as const satisfies Record<ListFiles['order'], RawBuilder<unknown>>

async function readFiles({ db, now }: LedgerTx, page: ListFiles): Promise<readonly FoundFile[]> {
  const { rows } = await sql<File & { readonly is_current: number }>`
    SELECT ${FILE_COLUMNS}, CASE WHEN ${isCurrent({ now })} THEN 1 ELSE 0 END AS is_current
    FROM files
    WHERE user_id = ${listedOwner(page)} AND ${isListed(page)} AND ${boundsOf(page)}
    ORDER BY ${ORDER[page.order]} LIMIT ${page.limit}
  `.execute(db)
  return rows.map(({ is_current: isCurrent, ...file }) => ({
    name: file.name,
    isCurrent: isCurrent === 1,
    file,
  }))
}

/**
 * The files of the prefix after the position. They are sorted here: the index of the order would end at a file that has
 * not the prefix, and the next page would begin there. Throws `invalid_parameter` (`order`) if they are too many.
 */
async function readSorted(tx: LedgerTx, page: ListFiles): Promise<readonly FoundFile[]> {
  const { order, maxScanned } = page
  const byName = { ...page, order: 'name', after: undefined, limit: maxScanned } as const
  const found = await readFiles(tx, byName)
  if (found.length === maxScanned) throw tooManyToSort(maxScanned)
  const start = startOf(page)
  const sign = isDescending(page) ? -1 : 1
  // Ties are in the order of their names already.
  const sorted = found.toSorted((a, b) => valueOf(a) - valueOf(b))
  if (sign < 0) sorted.reverse()
  return sorted.filter((each) => {
    const byValue = sign * (valueOf(each) - start.value)
    return byValue === 0 ? isBeyond(each.name) : byValue > 0
  })

  function valueOf({ file }: FoundFile): number {
    return file === undefined ? 0 : positionOf(file, order).value
  }
  function isBeyond(name: string): boolean {
    return sign < 0 ? isBelow(name, start.name) : isBelow(start.name, name)
  }
}

function tooManyToSort(most: number): AppError {
  const detail = `With this access token, ${most} files or more can only be listed in an order by name.`
  return invalidParameter('order', detail)
}

/**
 * Reads up to `limit` names in order, of each common prefix only the first that has not expired: from there, the next
 * search in the index begins after the prefix. Reads at most twice as many rows.
 */
async function readRolledUp(tx: LedgerTx, page: ListFiles): Promise<readonly FoundFile[]> {
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
  const { userId, limit } = page
  const ordered = isDescending(page) ? sql`name DESC` : sql`name`
  const search = (bounds: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
    SELECT CASE WHEN ${isCurrent(tx)} THEN '1' ELSE '0' END || name FROM files
    WHERE user_id = ${userId} AND ${isListed(page)} AND ${bounds}
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
async function readNamed(
  tx: LedgerTx,
  page: ListFiles,
  names: readonly FileName[],
): Promise<readonly File[]> {
  const { rows } = await sql<File>`
    SELECT ${FILE_COLUMNS} FROM files
    WHERE user_id = ${page.userId} AND name IN (${sql.join(names)})
      AND ${isListed(page)} AND ${isCurrent(tx)}
  `.execute(tx.db)
  return rows
}

type Start = Pick<ListFiles, 'prefix' | 'order' | 'after' | 'deviceId'>

/** SQL for the rows after the position; in an order by name, of those with the prefix. */
function boundsOf(page: Start): RawBuilder<unknown> {
  const { prefix, order } = page
  const { value, name } = startOf(page)
  if (order === 'name') return isInRange(sql`name`, { prefix, after: name })
  if (order !== '-name') {
    // The last condition is that of the index of all files, and holds for every file. That of a device has none. SQLite
    // enters the index by the first bound.
    const column = columnOf(order)
    const beyond = isDescending(page) ? sql`<` : sql`>`
    const ofIndex = page.deviceId === undefined ? sql`AND ${column} >= 0` : sql``
    return sql`(${column}, name) ${beyond} (${value}, ${name}) ${ofIndex}`
  }
  const end = successorOf(prefix)
  // One bound per side, as in `isInRange`.
  const below = end !== undefined && isBelow(end, name) ? end : name
  return prefix === '' ? sql`name < ${below}` : sql`name >= ${prefix} AND name < ${below}`
}

function columnOf(order: FileOrder): RawBuilder<number> {
  return order.endsWith('size') ? sql<number>`size` : sql<number>`updated_at`
}

function isDescending({ order }: Pick<ListFiles, 'order'>): boolean {
  return order.startsWith('-')
}

/** The listing continues beyond it. */
function startOf(page: Start): Pick<FilePosition, 'value'> & { readonly name: string } {
  const { after } = page
  if (after === undefined) return isDescending(page) ? LAST : FIRST
  const isBeyondPrefix = after.isPrefix === true && !isDescending(page)
  return isBeyondPrefix ? { value: 0, name: after.name + LAST_NAME } : after
}

/** Sorts after every file name, and after every name of a prefix that it is appended to. */
const LAST_NAME = '\u{10ffff}'.repeat(MAX_FILE_NAME_BYTES / 4 + 1)

// Before and after all files. Without an index bound SQLite would sort all files of a prefix.
const FIRST = { value: 0, name: '' } as const
const LAST = { value: MAX_BYTES, name: LAST_NAME } as const
