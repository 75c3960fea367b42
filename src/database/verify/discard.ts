import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Inventory } from '../../core/verify/inventory.ts'
import { markedBy, markerKey, type ObjectKey, versionOf } from '../../core/objects/object-key.ts'
import type { Database } from '../database.ts'
import { type FileRow, isRebuilding, type Tables } from '../schema.ts'

export async function discardObjects(
  database: Database,
  { keys, garbageDelayMs }: Parameters<Inventory['discardObjects']>[0],
): Promise<readonly ObjectKey[]> {
  if (keys.length === 0) return []
  const named = await findNamedKeys(database, keys)
  return await database.transaction(async (db) => {
    // An object that a rebuild has not yet settled looks like an orphan, but is a file.
    if (await isRebuilding(db)) return []
    const versions = sql.join(keys.map(versionOf))
    const { rows } = await sql<{ readonly object_key: ObjectKey; readonly version: string }>`
      SELECT object_key, version FROM files WHERE version IN (${versions})
      UNION
      SELECT object_key, version FROM uploads WHERE version IN (${versions})
    `.execute(db)
    const held = new Set<string>(rows.flatMap(({ object_key, version }) => [object_key, version]))
    for (const version of await findPast(db, keys)) held.add(version)
    const discarded = keys.filter(
      (key) => !named.has(key) && !held.has(key) && !held.has(versionOf(key)),
    )
    for (let first = 0; first < discarded.length; first += KEYS_PER_INSERT) {
      const rows = discarded
        .slice(first, first + KEYS_PER_INSERT)
        .map((key) => sql`(${key}, ${database.now} + ${garbageDelayMs})`)
      await sql`
        INSERT INTO garbage (object_key, not_before) VALUES ${sql.join(rows)}
        ON CONFLICT (object_key) DO NOTHING
      `.execute(db)
    }
    return discarded
  })
}

/** Past versions, and the names of their markers. */
async function findPast(
  db: Kysely<Tables>,
  keys: readonly ObjectKey[],
): Promise<readonly string[]> {
  const versions = keys.map((key) => versionOf(markedBy(key) ?? key))
  const { rows } = await sql<{ readonly object_key: ObjectKey }>`
    SELECT object_key FROM history WHERE version IN (${sql.join(versions)})
  `.execute(db)
  return rows.flatMap(({ object_key: key }) => [versionOf(key), versionOf(markerKey(key))])
}

const KEYS_PER_INSERT = 500

/** A statement over so many files takes a fraction of a second. */
const FILES_PER_PAGE = 50_000

// Keys have no index, so this reads all uploads, and all files in pages: orphans are rare, and a mistake would destroy
// data. A file or upload added meanwhile has the version of its key, by which the transaction finds it.
async function findNamedKeys(
  database: Database,
  keys: readonly ObjectKey[],
): Promise<ReadonlySet<ObjectKey>> {
  const { rows: uploads } = await database.query((db) =>
    sql<Pick<FileRow, 'object_key'>>`
      SELECT object_key FROM uploads WHERE object_key IN (${sql.join(keys)})
    `.execute(db),
  )
  const found = new Set<ObjectKey>(uploads.map(({ object_key: key }) => key))
  let after: FilePlace | undefined
  do {
    const page = sql`(user_id, name) > (${after?.user_id ?? ''}, ${after?.name ?? ''})`
    const last: FilePlace | undefined = await database.readInOrder((db) => placeAtEnd(db, page))
    const upTo = last && sql`AND (user_id, name) <= (${last.user_id}, ${last.name})`
    const { rows } = await database.query((db) =>
      sql<Pick<FileRow, 'object_key'>>`
        SELECT object_key FROM files
        WHERE ${page} ${upTo ?? sql``} AND object_key IN (${sql.join(keys)})
      `.execute(db),
    )
    for (const { object_key: key } of rows) found.add(key)
    after = last
  } while (after !== undefined)
  return found
}

type FilePlace = Pick<FileRow, 'user_id' | 'name'>

async function placeAtEnd(
  db: Kysely<Tables>,
  page: RawBuilder<unknown>,
): Promise<FilePlace | undefined> {
  const { rows } = await sql<FilePlace>`
    SELECT user_id, name FROM files WHERE ${page}
    ORDER BY user_id, name LIMIT 1 OFFSET ${FILES_PER_PAGE - 1}
  `.execute(db)
  return rows[0]
}
