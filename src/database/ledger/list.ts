import { type RawBuilder, sql } from 'kysely'
import { MAX_BYTES } from '../../core/byte-size.ts'
import type { File } from '../../core/files/file.ts'
import { MAX_FILE_NAME_BYTES } from '../../core/files/file-name.ts'
import type { FileOrder } from '../../core/files/listing.ts'
import type { ListFiles } from '../../core/ledger/ledger.ts'
import { isBelow, isInRange, successorOf } from '../prefix-range.ts'
import { VISIBLE_TO } from './find-file.ts'
import { createdAt, type LedgerTx } from './ledger-sql.ts'
import { FILE_COLUMNS } from './rows.ts'

/** Keyset pagination: enters the index of the order at the position and reads until the page is full. */
export async function listFiles({ db }: LedgerTx, page: ListFiles): Promise<readonly File[]> {
  const { userId, userCreatedAt } = page
  const { rows } = await sql<File>`
    SELECT ${FILE_COLUMNS} FROM files
    WHERE user_id = ${userId}
      AND EXISTS (
        SELECT 1 FROM users WHERE id = ${userId} AND status = 'active' ${createdAt(userCreatedAt)}
      )
      AND ${VISIBLE_TO[page.audience]} ${boundsOf(page)}
    ORDER BY ${ORDER[page.order]} LIMIT ${page.limit}
  `.execute(db)
  return rows
}

const ORDER = {
  name: sql`name`,
  '-name': sql`name DESC`,
  updated_at: sql`updated_at, name`,
  '-updated_at': sql`updated_at DESC, name DESC`,
  size: sql`size, name`,
  '-size': sql`size DESC, name DESC`,
} as const satisfies Record<FileOrder, RawBuilder<unknown>>

function boundsOf({ prefix, order, after }: ListFiles): RawBuilder<unknown> {
  const isDescending = order.startsWith('-')
  const start = after ?? (isDescending ? LAST : FIRST)
  if (order === 'name') return sql`AND ${isInRange(sql`name`, { prefix, after: start.name })}`
  const end = successorOf(prefix)
  const from = prefix === '' ? sql`` : sql`AND name >= ${prefix}`
  const to = end === undefined ? sql`` : sql`AND name < ${end}`
  if (order === '-name') {
    // One bound per side, as in `isInRange`.
    const isAfterAll = end !== undefined && isBelow(end, start.name)
    return isAfterAll ? sql`${from} ${to}` : sql`${from} AND name < ${start.name}`
  }
  const column = order.endsWith('size') ? sql`size` : sql`updated_at`
  const beyond = isDescending ? sql`<` : sql`>`
  // The first condition is that of the index, and holds for every file.
  const position = sql`${column} >= 0 AND (${column}, name) ${beyond} (${start.value}, ${start.name})`
  return sql`AND ${position} ${from} ${to}`
}

// Before and after all files. Without an index bound SQLite would sort all files of a prefix.
const FIRST = { value: 0, name: '' } as const
const LAST = { value: MAX_BYTES, name: '\u{10ffff}'.repeat(MAX_FILE_NAME_BYTES) } as const
