import { type Kysely, sql } from 'kysely'
import { type ObjectKey, versionOf } from '../../core/objects/object-key.ts'
import type { FoundObject, RebuildFigures, RebuildJournal } from '../../core/rebuild/journal.ts'
import type { Database, Fragments } from '../database.ts'
import { isAfter, isNewest, OBJECT_COLUMNS } from './row.ts'
import { settleObjects } from './settle.ts'
import { isRebuilding, type Tables } from '../schema.ts'

/** Uses the table `rebuild_objects`, which exists only during a rebuild and is not in the schema. */
export function createRebuildJournal(database: Database): RebuildJournal {
  return {
    begin: () => database.transaction((db) => begin(db, database)),
    isUnfinished: () => database.query(isRebuilding),
    findKnown: (keys) => database.query((db) => findKnown(db, keys)),
    add: (objects) => database.transaction((db) => add(db, objects)),
    listUnread: (page) => database.readInOrder((db) => listUnread(db, page)),
    addDigests: (digests) =>
      database.transaction(async (db) => {
        for (const { version, sha256 } of digests) {
          await sql`UPDATE rebuild_objects SET sha256 = ${sha256} WHERE version = ${version}`.execute(
            db,
          )
        }
      }),
    settle: (options) =>
      database.transaction(async (db) => {
        await database.keepIndexOrder?.execute(db)
        return await settleObjects({ ...database, db }, options)
      }),
    figures: () => countJournal(database),
    finish: () =>
      database.query(async (db) => {
        await sql`DROP TABLE IF EXISTS rebuild_objects`.execute(db)
      }),
  }
}

async function begin(
  db: Kysely<Tables>,
  { bytewise }: Fragments,
): ReturnType<RebuildJournal['begin']> {
  if (await isRebuilding(db)) return 'found'
  if (!(await isEmpty(db))) return 'refused'
  const text = sql`text COLLATE ${bytewise} NOT NULL`
  await sql`CREATE TABLE rebuild_objects (
    user_id ${text},
    name ${text},
    version ${text} UNIQUE,
    object_key ${text},
    size bigint NOT NULL,
    began_at bigint NOT NULL,
    sha256 text,
    settled integer NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, name, version)
  )`.execute(db)
  return 'begun'
}

async function isEmpty(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql`
    SELECT 1 FROM (SELECT 1) AS one WHERE
      EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM quotas) OR EXISTS (SELECT 1 FROM files)
      OR EXISTS (SELECT 1 FROM uploads) OR EXISTS (SELECT 1 FROM garbage)
  `.execute(db)
  return rows.length === 0
}

async function findKnown(
  db: Kysely<Tables>,
  keys: readonly ObjectKey[],
): Promise<ReadonlySet<ObjectKey>> {
  if (keys.length === 0) return new Set()
  const versions = keys.map(versionOf)
  const { rows } = await sql<Pick<FoundObject, 'objectKey'>>`
    SELECT object_key AS "objectKey" FROM rebuild_objects WHERE version IN (${sql.join(versions)})
  `.execute(db)
  return new Set(rows.map(({ objectKey }) => objectKey))
}

async function add(
  db: Kysely<Tables>,
  objects: readonly FoundObject[],
): Promise<readonly ObjectKey[]> {
  const taken: ObjectKey[] = []
  for (const { userId, name, version, objectKey, size, beganAt } of objects) {
    const { rows } = await sql`
      INSERT INTO rebuild_objects (user_id, name, version, object_key, size, began_at)
      VALUES (${userId}, ${name}, ${version}, ${objectKey}, ${size}, ${beganAt})
      ON CONFLICT DO NOTHING
      RETURNING version
    `.execute(db)
    if (rows.length === 0) taken.push(objectKey)
  }
  return taken
}

async function listUnread(
  db: Kysely<Tables>,
  { after, limit }: Parameters<RebuildJournal['listUnread']>[0],
): Promise<readonly FoundObject[]> {
  const { rows } = await sql<FoundObject>`
    SELECT ${OBJECT_COLUMNS} FROM rebuild_objects AS r
    WHERE ${isAfter(after)} AND sha256 IS NULL AND ${isNewest}
    ORDER BY user_id, name, version LIMIT ${limit}
  `.execute(db)
  return rows
}

type CountedRow = FoundObject & { readonly settled: number }

const ROWS_PER_PAGE = 5000

/** Works in pages: a statement over a million rows would time out. The last row of a name is the newest. */
async function countJournal(database: Database): Promise<RebuildFigures> {
  const figures = { users: 0, files: 0, bytes: 0, replaced: 0, settled: 0 }
  let last: CountedRow | undefined
  let page: readonly CountedRow[]
  do {
    page = await readPage(database, last)
    for (const row of page) {
      const isSameUser = row.userId === last?.userId
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
      SELECT ${OBJECT_COLUMNS}, settled FROM rebuild_objects AS r WHERE ${isAfter(last)}
      ORDER BY user_id, name, version LIMIT ${ROWS_PER_PAGE}
    `.execute(db)
    return rows
  })
}
