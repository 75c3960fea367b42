import { type RawBuilder, sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import { type AppError, invalidParameter } from '../../core/errors.ts'
import {
  containsText,
  type FilePosition,
  type ListedFiles,
  positionOf,
} from '../../core/files/listing.ts'
import type { ListFiles } from '../../core/files/file-ledger.ts'
import { isBelow } from '../prefix-range.ts'
import { scan } from '../scan.ts'
import { isCurrent, type LedgerTx, listedOwner } from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'
import { VISIBLE_TO } from './find-file.ts'
import { boundsOf, isDescending, startOf } from './list-bounds.ts'
import { createListedPage, type FoundFile } from './listed-page.ts'
import { readNamed, readRolledUp } from './roll-up.ts'

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
  return page.end(ranOutAt)
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
    WHERE user_id = ${listedOwner(page)} AND ${VISIBLE_TO[page.audience]} AND ${boundsOf(page)}
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
    WHERE user_id = ${listedOwner(page)} AND ${VISIBLE_TO[page.audience]} AND ${boundsOf(page)}
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
