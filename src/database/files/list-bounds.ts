import { type RawBuilder, sql } from 'kysely'
import { MAX_BYTES } from '../../core/byte-size.ts'
import { MAX_FILE_NAME_BYTES } from '../../core/files/file-name.ts'
import type { FileOrder, FilePosition } from '../../core/files/listing.ts'
import type { ListFiles } from '../../core/files/file-ledger.ts'
import { isBelow, isInRange, successorOf } from '../prefix-range.ts'

type Start = Pick<ListFiles, 'prefix' | 'order' | 'after'>

/** SQL for the rows after the position; in an order by name, of those with the prefix. */
export function boundsOf(page: Start): RawBuilder<unknown> {
  const { prefix, order } = page
  const { value, name } = startOf(page)
  if (order === 'name') return isInRange(sql`name`, { prefix, after: name })
  if (order !== '-name') {
    // The last condition is that of the index, and holds for every file. SQLite enters the index by the first bound.
    const column = columnOf(order)
    const beyond = isDescending(page) ? sql`<` : sql`>`
    return sql`(${column}, name) ${beyond} (${value}, ${name}) AND ${column} >= 0`
  }
  const end = successorOf(prefix)
  // One bound per side, as in `isInRange`.
  const below = end !== undefined && isBelow(end, name) ? end : name
  return prefix === '' ? sql`name < ${below}` : sql`name >= ${prefix} AND name < ${below}`
}

function columnOf(order: FileOrder): RawBuilder<number> {
  return order.endsWith('size') ? sql<number>`size` : sql<number>`updated_at`
}

export function isDescending({ order }: Pick<ListFiles, 'order'>): boolean {
  return order.startsWith('-')
}

/** The listing continues beyond it. */
export function startOf(page: Start): Pick<FilePosition, 'value'> & { readonly name: string } {
  const { after } = page
  if (after === undefined) return isDescending(page) ? LAST : FIRST
  const isBeyondPrefix = after.isPrefix === true && !isDescending(page)
  return isBeyondPrefix ? { value: 0, name: after.name + LAST_NAME } : after
}

/** Sorts after every file name, and after every name of a prefix that it is appended to. */
export const LAST_NAME = '\u{10ffff}'.repeat(MAX_FILE_NAME_BYTES)

// Before and after all files. Without an index bound SQLite would sort all files of a prefix.
const FIRST = { value: 0, name: '' } as const
const LAST = { value: MAX_BYTES, name: LAST_NAME } as const
