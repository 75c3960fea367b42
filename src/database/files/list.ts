import { type RawBuilder, sql } from 'kysely'
import { MAX_BYTES } from '../../core/byte-size.ts'
import type { File } from '../../core/files/file.ts'
import { type AppError, invalidParameter } from '../../core/errors.ts'
import { MAX_FILE_NAME_BYTES } from '../../core/files/file-name.ts'
import type { FileOrder, FilePosition, ListedFiles } from '../../core/files/listing.ts'
import type { ListFiles } from '../../core/files/file-ledger.ts'
import { isBelow, isInRange, successorOf } from '../prefix-range.ts'
import { VISIBLE_TO } from './find-file.ts'
import { bigint, createdAt, isCurrent, type LedgerTx } from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'

/** Keyset pagination: enters the index of the order at the position and reads until the page is full. */
export async function listFiles(tx: LedgerTx, page: ListFiles): Promise<ListedFiles> {
  const { userId, userCreatedAt } = page
  if (page.hidesOthers === true && skipsFiles(page)) return await listSorted(tx, page)
  const end = skipsFiles(page) ? await endOfScan(tx, page) : undefined
  const { rows: files } = await sql<File>`
    SELECT ${FILE_COLUMNS} FROM files
    WHERE user_id = ${userId}
      AND EXISTS (
        SELECT 1 FROM users WHERE id = ${userId} AND status = 'active' ${createdAt(userCreatedAt)}
      )
      AND ${VISIBLE_TO[page.audience]} AND ${isCurrent(tx)} ${boundsOf(page)} ${upTo(page, end)}
    ORDER BY ${ORDER[page.order]} LIMIT ${page.limit}
  `.execute(tx.db)
  return { files, scannedTo: files.length < page.limit ? end : undefined }
}

/**
 * Without the index of the order: its search would end at a file that has not the prefix, and the next page would begin
 * there. The plus signs keep both databases from using it.
 */
async function listSorted(tx: LedgerTx, page: ListFiles): Promise<ListedFiles> {
  const { db } = tx
  const { userId, userCreatedAt, prefix, order, maxScanned } = page
  const ofPrefix = sql`
    FROM files WHERE user_id = ${userId}
      AND EXISTS (
        SELECT 1 FROM users WHERE id = ${userId} AND status = 'active' ${createdAt(userCreatedAt)}
      )
      AND ${VISIBLE_TO[page.audience]} AND ${isCurrent(tx)} AND ${isInRange(sql`name`, { prefix, after: '' })}
  `
  const { rows: excess } = await sql`SELECT 1 ${ofPrefix} LIMIT 1 OFFSET ${maxScanned}`.execute(db)
  if (excess.length > 0) throw tooManyToSort(maxScanned)
  const { value, name } = startOf(page)
  const [beyond, direction] = isDescending(page) ? [sql`<`, sql`DESC`] : [sql`>`, sql`ASC`]
  const { rows: files } = await sql<File>`
    SELECT ${FILE_COLUMNS} ${ofPrefix}
      AND (+${columnOf(order)}, name) ${beyond} (${bigint(value)}, ${name})
    ORDER BY +${columnOf(order)} ${direction}, name ${direction} LIMIT ${page.limit}
  `.execute(db)
  return { files, scannedTo: undefined }
}

function tooManyToSort(most: number): AppError {
  const detail = `With this access token, more than ${most} files can only be listed in an order by name.`
  return invalidParameter('order', detail)
}

/** Whether the index of the order contains files that are not listed. */
function skipsFiles({ order, prefix }: ListFiles): boolean {
  return prefix !== '' && !order.endsWith('name')
}

/**
 * The position of the last file that the page may look at; `undefined` if fewer are left. The page is read after it, up
 * to that position: files that change in between are in the page or after it. The user's row is the key of the search:
 * in a condition, SQLite would test it for each file, and a suspended user's files would all be read.
 */
async function endOfScan({ db }: LedgerTx, page: ListFiles): Promise<FilePosition | undefined> {
  const { userId, userCreatedAt, audience, order, maxScanned } = page
  const { rows } = await sql<FilePosition>`
    SELECT ${columnOf(order)} AS value, name FROM files
    WHERE user_id = (
        SELECT id FROM users WHERE id = ${userId} AND status = 'active' ${createdAt(userCreatedAt)}
      )
      AND ${VISIBLE_TO[audience]} ${beyondStart(page)}
    ORDER BY ${ORDER[order]} LIMIT 1 OFFSET ${maxScanned - 1}
  `.execute(db)
  return rows[0]
}

const ORDER = {
  name: sql`name`,
  '-name': sql`name DESC`,
  updated_at: sql`updated_at, name`,
  '-updated_at': sql`updated_at DESC, name DESC`,
  size: sql`size, name`,
  '-size': sql`size DESC, name DESC`,
} as const satisfies Record<FileOrder, RawBuilder<unknown>>

function boundsOf(page: ListFiles): RawBuilder<unknown> {
  const { prefix, order } = page
  const start = startOf(page)
  if (order === 'name') return sql`AND ${isInRange(sql`name`, { prefix, after: start.name })}`
  const end = successorOf(prefix)
  const from = prefix === '' ? sql`` : sql`AND name >= ${prefix}`
  const to = end === undefined ? sql`` : sql`AND name < ${end}`
  if (order === '-name') {
    // One bound per side, as in `isInRange`.
    const isAfterAll = end !== undefined && isBelow(end, start.name)
    return isAfterAll ? sql`${from} ${to}` : sql`${from} AND name < ${start.name}`
  }
  return sql`${beyondStart(page)} ${from} ${to}`
}

/** For orders other than by name. The first condition is that of the index, and holds for every file. */
function beyondStart(page: ListFiles): RawBuilder<unknown> {
  const column = columnOf(page.order)
  const { value, name } = startOf(page)
  const beyond = isDescending(page) ? sql`<` : sql`>`
  return sql`AND ${column} >= 0 AND (${column}, name) ${beyond} (${value}, ${name})`
}

function upTo(page: ListFiles, end: FilePosition | undefined): RawBuilder<unknown> {
  if (end === undefined) return sql``
  const within = isDescending(page) ? sql`>=` : sql`<=`
  return sql`AND (${columnOf(page.order)}, name) ${within} (${end.value}, ${end.name})`
}

function columnOf(order: FileOrder): RawBuilder<number> {
  return order.endsWith('size') ? sql<number>`size` : sql<number>`updated_at`
}

function isDescending({ order }: ListFiles): boolean {
  return order.startsWith('-')
}

function startOf(page: ListFiles): Pick<FilePosition, 'value'> & { readonly name: string } {
  return page.after ?? (isDescending(page) ? LAST : FIRST)
}

// Before and after all files. Without an index bound SQLite would sort all files of a prefix.
const FIRST = { value: 0, name: '' } as const
const LAST = { value: MAX_BYTES, name: '\u{10ffff}'.repeat(MAX_FILE_NAME_BYTES) } as const
