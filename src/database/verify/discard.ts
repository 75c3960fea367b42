import { sql } from 'kysely'
import { type ObjectKey, versionOf } from '../../core/objects/object-key.ts'
import type { Database } from '../database.ts'
import { removableAt } from '../ledger/garbage.ts'
import type { SqlContext } from '../ledger/ledger-sql.ts'
import { findNamed } from '../ledger/named-objects.ts'
import { type FileRow, isRebuilding } from '../schema.ts'

export async function discardObjects(
  database: Database,
  { keys, times }: { readonly keys: readonly ObjectKey[] } & Pick<SqlContext, 'times'>,
): Promise<readonly ObjectKey[]> {
  if (keys.length === 0) return []
  const named = await findNamedKeys(database, keys)
  const notBefore = removableAt({ now: database.now, times })
  return await database.transaction(async (db) => {
    // An object that a rebuild has not yet settled looks like an orphan, but is a file.
    if (await isRebuilding(db)) return []
    const { held } = await findNamed(db, keys)
    const discarded = keys.filter(
      (key) => !named.has(key) && !held.has(key) && !held.has(versionOf(key)),
    )
    for (let first = 0; first < discarded.length; first += KEYS_PER_INSERT) {
      const rows = discarded
        .slice(first, first + KEYS_PER_INSERT)
        .map((key) => sql`(${key}, ${notBefore})`)
      await sql`
        INSERT INTO garbage (object_key, not_before) VALUES ${sql.join(rows)}
        ON CONFLICT (object_key) DO NOTHING
      `.execute(db)
    }
    return discarded
  })
}

const KEYS_PER_INSERT = 500

/** A statement over so many rows takes a fraction of a second. */
const ROWS_PER_PAGE = 50_000

// Keys have no index, so this reads all uploads, and all files and past versions in pages: orphans are rare, and a
// mistake would destroy data. A row added meanwhile has the version of its key, by which the transaction finds it.
async function findNamedKeys(
  database: Database,
  keys: readonly ObjectKey[],
): Promise<ReadonlySet<ObjectKey>> {
  const { rows: uploads } = await database.query((db) =>
    sql<Named>`
      SELECT object_key FROM uploads WHERE object_key IN (${sql.join(keys)})
    `.execute(db),
  )
  const found = new Set(uploads.map(({ object_key: key }) => key))
  for (const table of ['history', 'files'] as const) {
    for await (const key of keysNamedBy(database, { table, keys })) found.add(key)
  }
  return found
}

type Named = Pick<FileRow, 'object_key'>

interface Place {
  readonly version: string
}

async function* keysNamedBy(
  database: Database,
  { table, keys }: { readonly table: 'files' | 'history'; readonly keys: readonly ObjectKey[] },
): AsyncGenerator<ObjectKey> {
  const rowsOf = sql.table(table)
  let after = ''
  for (;;) {
    const page = sql`version > ${after}`
    const { rows: ends } = await database.readInOrder((db) =>
      sql<Place>`
        SELECT version FROM ${rowsOf} WHERE ${page}
        ORDER BY version LIMIT 1 OFFSET ${ROWS_PER_PAGE - 1}
      `.execute(db),
    )
    const [last] = ends
    const upTo = last && sql`AND version <= ${last.version}`
    const { rows } = await database.query((db) =>
      sql<Named>`
        SELECT object_key FROM ${rowsOf}
        WHERE ${page} ${upTo ?? sql``} AND object_key IN (${sql.join(keys)})
      `.execute(db),
    )
    for (const { object_key: key } of rows) yield key
    if (last === undefined) return
    after = last.version
  }
}
