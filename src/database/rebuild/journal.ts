import { randomUUID } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { metadataBytes } from '../../core/files/metadata.ts'
import { metadataBytesOf } from '../ledger/counted-bytes.ts'
import { AppError } from '../../core/errors.ts'
import { markerKey, type ObjectKey } from '../../core/objects/object-key.ts'
import type {
  FoundObject,
  JournaledObject,
  ReadObject,
  RebuildJournal,
} from '../../core/rebuild/journal.ts'
import type { Database, Fragments } from '../database.ts'
import { bigint } from '../ledger/ledger-sql.ts'
import { NEVER } from '../../core/files/file.ts'
import { INSERT_FILE } from '../ledger/rows.ts'
import { isRebuilding, type Tables } from '../schema.ts'

/**
 * Uses the table `rebuild_objects`, which exists only during a rebuild and is not in the schema. A row of `leader_leases` names
 * the run that may write: a later run takes over from one that still runs, whose writes then reject.
 */
export function createRebuildJournal(database: Database): RebuildJournal {
  const { bytewise, forUpdate } = database
  let run = ''
  const write = <T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> =>
    database.transaction(async (db) => {
      await assertCurrent(db, { run, bytewise, forUpdate })
      return await work(db)
    })
  return {
    async begin() {
      run = randomUUID()
      const start = await database.transaction((db) => begin(db, { run, bytewise, forUpdate }))
      if (start !== 'restarted') return start
      await clear(write)
      await write(async (db) => {
        await drop(db)
        await create(db, database)
      })
      return start
    },
    isUnfinished: () => database.query(isRebuilding),
    add: (objects) => write((db) => add(db, objects)),
    addMarkers: (versions) => write((db) => addMarkers(db, versions)),
    list: (page) => database.readInOrder((db) => list(db, page)),
    settle: (objects) => write((db) => settle({ db, now: database.now }, objects)),
    finish: () =>
      write(async (db) => {
        await drop(db)
        await sql`DELETE FROM leader_leases WHERE name = ${RUN}`.execute(db)
      }),
  }
}

/** The name of the row of `leader_leases`. */
const RUN = 'rebuild'

interface Run extends Pick<Fragments, 'bytewise' | 'forUpdate'> {
  readonly run: string
}

async function begin(
  db: Kysely<Tables>,
  { run, bytewise }: Run,
): ReturnType<RebuildJournal['begin']> {
  if (!(await isRebuilding(db)) && !(await isEmpty(db))) return 'refused'
  // Waits for what another run is writing.
  await sql`
    INSERT INTO leader_leases (name, holder, lease_until) VALUES (${RUN}, ${run}, 0)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder
  `.execute(db)
  if (await isRebuilding(db)) return 'restarted'
  await create(db, { bytewise })
  return 'begun'
}

async function assertCurrent(db: Kysely<Tables>, { run, forUpdate }: Run): Promise<void> {
  const { rows } = await sql`
    SELECT 1 FROM leader_leases WHERE name = ${RUN} AND holder = ${run} ${forUpdate ?? sql``}
  `.execute(db)
  if (rows.length > 0) return
  throw new AppError('unavailable', 'Another rebuild has started and takes over from this one.')
}

async function create(
  db: Kysely<Tables>,
  { bytewise }: Pick<Fragments, 'bytewise'>,
): Promise<void> {
  const text = sql`text COLLATE ${bytewise} NOT NULL`
  await sql`CREATE TABLE rebuild_objects (
    user_id ${text},
    name ${text},
    version ${text} UNIQUE,
    object_key ${text},
    size bigint NOT NULL,
    began_at bigint NOT NULL,
    media_type text,
    metadata text,
    PRIMARY KEY (user_id, name, version)
  )`.execute(db)
  await sql`CREATE TABLE rebuild_markers (version ${text} PRIMARY KEY)`.execute(db)
}

async function drop(db: Kysely<Tables>): Promise<void> {
  await sql`DROP TABLE IF EXISTS rebuild_markers`.execute(db)
  await sql`DROP TABLE IF EXISTS rebuild_objects`.execute(db)
}

async function isEmpty(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql`
    SELECT 1 FROM (SELECT 1) AS one WHERE
      EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM quotas) OR EXISTS (SELECT 1 FROM files)
      OR EXISTS (SELECT 1 FROM uploads) OR EXISTS (SELECT 1 FROM garbage)
      OR EXISTS (SELECT 1 FROM changes) OR EXISTS (SELECT 1 FROM history)
  `.execute(db)
  return rows.length === 0
}

const ROWS_PER_TRANSACTION = 5000

type Write = <T>(work: (db: Kysely<Tables>) => Promise<T>) => Promise<T>

/** Removes what `settle` has written, but no user: an operator may have given one a token. */
async function clear(write: Write): Promise<void> {
  await repeat(
    write,
    sql`DELETE FROM files WHERE (user_id, name) IN (
      SELECT user_id, name FROM files LIMIT ${ROWS_PER_TRANSACTION}
    )`,
  )
  await repeat(
    write,
    sql`DELETE FROM garbage WHERE object_key IN (
      SELECT object_key FROM garbage LIMIT ${ROWS_PER_TRANSACTION}
    )`,
  )
  await repeat(
    write,
    sql`UPDATE quotas SET used_bytes = 0, file_count = 0 WHERE user_id IN (
      SELECT user_id FROM quotas WHERE file_count > 0 LIMIT ${ROWS_PER_TRANSACTION}
    )`,
  )
}

/** Runs a statement until it changes no more rows. */
async function repeat(write: Write, statement: RawBuilder<unknown>): Promise<void> {
  let changed: bigint | undefined
  do {
    changed = (await write((db) => statement.execute(db))).numAffectedRows
  } while (changed !== 0n)
}

async function add(
  db: Kysely<Tables>,
  objects: readonly FoundObject[],
): Promise<readonly ObjectKey[]> {
  const taken: ObjectKey[] = []
  for (const object of objects) {
    const { userId, name, version, objectKey, size, beganAt, mediaType, metadata } = object
    const { rows } = await sql`
      INSERT INTO rebuild_objects
        (user_id, name, version, object_key, size, began_at, media_type, metadata)
      VALUES (${userId}, ${name}, ${version}, ${objectKey}, ${size}, ${beganAt}, ${mediaType}, ${metadata})
      ON CONFLICT DO NOTHING
      RETURNING version
    `.execute(db)
    if (rows.length === 0) taken.push(objectKey)
  }
  return taken
}

async function addMarkers(db: Kysely<Tables>, versions: readonly string[]): Promise<void> {
  if (versions.length === 0) return
  await sql`
    INSERT INTO rebuild_markers (version) VALUES ${sql.join(versions.map((version) => sql`(${version})`))}
    ON CONFLICT DO NOTHING
  `.execute(db)
}

async function list(
  db: Kysely<Tables>,
  { before, limit }: Parameters<RebuildJournal['list']>[0],
): Promise<readonly JournaledObject[]> {
  const isBefore =
    before && sql`(user_id, name, version) < (${before.userId}, ${before.name}, ${before.version})`
  const { rows } = await sql<FoundObject & { readonly is_past: number }>`
    SELECT user_id AS "userId", name, version, object_key AS "objectKey", size, began_at AS "beganAt",
      media_type AS "mediaType", metadata,
      (SELECT COUNT(*) FROM rebuild_markers WHERE rebuild_markers.version = rebuild_objects.version)
        AS is_past
    FROM rebuild_objects WHERE ${isBefore ?? sql`1 = 1`}
    ORDER BY user_id DESC, name DESC, version DESC LIMIT ${limit}
  `.execute(db)
  return rows.map(({ is_past: past, ...object }) => Object.assign(object, { isPast: past === 1 }))
}

interface Settling extends Pick<Fragments, 'now'> {
  readonly db: Kysely<Tables>
}

async function settle(
  { db, now }: Settling,
  { files, garbage, garbageDelayMs }: Parameters<RebuildJournal['settle']>[0],
): Promise<void> {
  if (files.length > 0) await addFiles({ db, now }, files)
  if (garbage.length === 0) return
  await sql`
    INSERT INTO garbage (object_key, not_before)
    SELECT object_key, ${now} + ${bigint(garbageDelayMs)}
    FROM rebuild_objects WHERE version IN (${sql.join(garbage.map(({ version }) => version))})
  `.execute(db)
  const marked = garbage.filter(({ isPast }) => isPast)
  if (marked.length === 0) return
  const due = sql`${now} + ${bigint(garbageDelayMs)}`
  const markers = marked.map(({ objectKey }) => sql`(${markerKey(objectKey)}, ${due})`)
  await sql`INSERT INTO garbage (object_key, not_before) VALUES ${sql.join(markers)}`.execute(db)
}

/**
 * Without ON CONFLICT for files: an unexpected file must fail the rebuild, so that neither version is lost. The time of
 * no change tells cursors of this rebuild from those of an earlier one.
 */
async function addFiles({ db, now }: Settling, files: readonly ReadObject[]): Promise<void> {
  const users = sql.join([...new Set(files.map(({ userId }) => userId))])
  await sql`
    INSERT INTO users (id, status, created_at)
    SELECT user_id, 'active', MIN(began_at) FROM rebuild_objects WHERE user_id IN (${users})
    GROUP BY user_id
    ON CONFLICT (id) DO NOTHING
  `.execute(db)
  const versions = sql.join(files.map(({ version }) => version))
  await sql`
    INSERT INTO quotas
      (user_id, used_bytes, reserved_bytes, file_count, changed_at, newest_at, freed_at)
    SELECT user_id, SUM(size + ${metadataBytesOf(sql`metadata`)}), 0, COUNT(*), ${now}, ${now}, ${secondAfter(now)} FROM rebuild_objects WHERE version IN (${versions})
    GROUP BY user_id
    ON CONFLICT (user_id) DO UPDATE SET
      used_bytes = quotas.used_bytes + excluded.used_bytes,
      file_count = quotas.file_count + excluded.file_count
  `.execute(db)
  const modifiedAt = secondAfter(now)
  await sql`
    ${INSERT_FILE} VALUES ${sql.join(files.map((file) => rowOf(file, modifiedAt)))}
  `.execute(db)
}

/** Later than any date that a content of the names had before the rebuild. */
function secondAfter(now: RawBuilder<number>): RawBuilder<number> {
  return sql<number>`((${now} / 1000 + 1) * 1000)`
}

function rowOf(file: ReadObject, modifiedAt: RawBuilder<number>): RawBuilder<unknown> {
  const { userId, name, version, objectKey, size, sha256, beganAt, mediaType, metadata } = file
  return sql`(
    ${userId}, ${name}, ${version}, ${objectKey}, ${size}, ${sha256}, 'private', ${beganAt},
    ${beganAt}, ${mediaType}, ${metadata}, ${NEVER}, 0, ${metadataBytes(metadata)}, ${modifiedAt}, NULL
  )`
}
