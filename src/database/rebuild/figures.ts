import { sql } from 'kysely'
import type { RebuildFigures } from '../../core/rebuild/journal.ts'
import type { Database } from '../database.ts'
import { isAfter, type RebuildRow, toObject } from './row.ts'

type CountedRow = RebuildRow & { readonly settled: number }

const ROWS_PER_PAGE = 5000

/**
 * Adds up the journal page by page, since one statement over a million rows takes longer than a statement may. In its
 * order the last row of a name is the newest, and the rows of a user stand together.
 */
export async function countJournal(database: Database): Promise<RebuildFigures> {
  const figures = { users: 0, files: 0, bytes: 0, replaced: 0, settled: 0 }
  let last: CountedRow | undefined
  let page: readonly CountedRow[]
  do {
    page = await readPage(database, last)
    for (const row of page) {
      const isSameUser = row.user_id === last?.user_id
      const isSameName = isSameUser && row.name === last?.name
      if (!isSameUser) figures.users += 1
      if (isSameName) figures.replaced += 1
      else figures.files += 1
      figures.bytes += row.size - (isSameName ? (last?.size ?? 0) : 0)
      figures.settled += row.settled
      last = row
    }
  } while (page.length > 0)
  return figures
}

function readPage(
  database: Database,
  last: CountedRow | undefined,
): Promise<readonly CountedRow[]> {
  return database.readInOrder(async (db) => {
    const { rows } = await sql<CountedRow>`
      SELECT * FROM rebuild_objects AS r WHERE ${isAfter(last && toObject(last))}
      ORDER BY user_id, name, version LIMIT ${ROWS_PER_PAGE}
    `.execute(db)
    return rows
  })
}
