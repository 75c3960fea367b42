import { randomUUID } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { AppError } from '../../core/errors.ts'
import { type FileVersion, NEVER } from '../../core/files/file.ts'
import type { ObjectKey, Version } from '../../core/objects/object-key.ts'
import { type RebuildLedger, UNREAD } from '../../core/rebuild/rebuild-ledger.ts'
import type { Database } from '../database.ts'
import { garbageBytes, metadataBytesOf, withOverhead } from '../ledger/counted-bytes.ts'
import { countFilesOfDevices } from '../ledger/device-usage.ts'
import type { Clocked } from '../ledger/ledger-sql.ts'
import { INSERT_FILE, INSERT_PAST, MEMBERS_OF_VERSION, VERSION_COLUMNS } from '../ledger/rows.ts'
import { isRebuilding, REBUILD, type Tables } from '../schema.ts'

type Write = <T>(work: (tx: Clocked) => Promise<T>) => Promise<T>

/**
 * The row `rebuild` of `leader_leases` marks a database that is being rebuilt. It names the run that may write, and the
 * time at which all that the run adds has ended.
 */
export function createRebuildLedger(database: Database): RebuildLedger {
  const { now, forUpdate = sql`` } = database
  let run = ''
  const write: Write = async (work) =>
    await database.transaction(async (db) => {
      const { rows } = await sql`
        SELECT 1 FROM leader_leases WHERE name = ${REBUILD} AND holder = ${run} ${forUpdate}
      `.execute(db)
      if (rows.length > 0) return await work({ db, now })
      throw new AppError('unavailable', 'Another rebuild has started and takes over from this one.')
    })
  const finish = (): Promise<void> =>
    write(async ({ db }) => {
      await sql`DELETE FROM leader_leases WHERE name = ${REBUILD}`.execute(db)
    })
  return {
    async begin() {
      run = randomUUID()
      const start = await database.transaction((db) => begin({ db, now }, run))
      if (start === undefined) throw new Error(NOT_EMPTY)
      if (start === 'restarted') await clear(write)
      return start
    },
    isUnfinished: () => database.query(isRebuilding),
    add: (versions) => write((tx) => add(tx, versions)),
    list: (page) => database.readInOrder((db) => list(db, page)),
    settle: (versions) => write((tx) => settle(tx, versions)),
    clear: async () => {
      await clear(write)
      await finish()
    },
    finish,
  }
}

async function begin(
  { db, now }: Clocked,
  run: string,
): Promise<'begun' | 'restarted' | undefined> {
  const isRestart = await isRebuilding(db)
  // Only with users are there files, past versions, uploads or changes.
  const { rows } = await sql`
    SELECT 1 FROM (SELECT 1) AS one WHERE EXISTS (SELECT 1 FROM users)
      OR EXISTS (SELECT 1 FROM garbage)
  `.execute(db)
  if (rows.length > 0 && !isRestart) return undefined
  // Waits for what another run is writing.
  await sql`
    INSERT INTO leader_leases (name, holder, lease_until) VALUES (${REBUILD}, ${run}, ${now})
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
  `.execute(db)
  return isRestart ? 'restarted' : 'begun'
}

const NOT_EMPTY =
  'The database already contains users, files or garbage. A rebuild needs an empty database.'

const ROWS_PER_TRANSACTION = 5000
const KEYS = { files: 'version', history: 'version', users: 'id' } as const

async function clear(write: Write): Promise<void> {
  for (const [table, column] of Object.entries(KEYS)) {
    const [rows, key] = [sql.table(table), sql.ref(column)]
    const page = sql`SELECT ${key} FROM ${rows} LIMIT ${ROWS_PER_TRANSACTION}`
    const statement = sql`DELETE FROM ${rows} WHERE ${key} IN (${page})`
    while ((await write(({ db }) => statement.execute(db))).numAffectedRows !== 0n);
  }
}

const ENDED_AT = sql`(SELECT lease_until FROM leader_leases WHERE name = ${REBUILD})`

async function add(tx: Clocked, versions: readonly FileVersion[]): Promise<readonly ObjectKey[]> {
  if (versions.length === 0) return []
  const asked = sql.join(versions.map(({ version }) => version))
  const { rows } = await sql<Pick<FileVersion, 'version'>>`
    SELECT version FROM history WHERE version IN (${asked})
  `.execute(tx.db)
  const known = new Set(rows.map(({ version }) => version))
  const added = versions.filter(({ version }) => !known.has(version) && known.add(version))
  if (added.length > 0) await insert(tx, added)
  return versions.filter((each) => !added.includes(each)).map(({ objectKey }) => objectKey)
}

/**
 * Any excess makes the first sweep compare a user's history with the allowance. The time of no change tells cursors of
 * this rebuild from those of an earlier one.
 */
async function insert({ db, now }: Clocked, versions: readonly FileVersion[]): Promise<void> {
  const dates = sql`${now}, ${now}, ${secondAfter(now)}`
  const users: RawBuilder<unknown>[] = []
  const quotas: RawBuilder<unknown>[] = []
  for (const [userId, own] of Map.groupBy(versions, (version) => version.userId)) {
    const createdAt = Math.min(...own.map((version) => version.createdAt))
    const bytes = own.reduce((sum, { size }) => sum + withOverhead(size), 0)
    users.push(sql`(${userId}, 'active', ${createdAt})`)
    quotas.push(sql`(${userId}, 0, 0, 0, ${bytes}, ${own.length}, 1, ${dates})`)
  }
  await sql`
    INSERT INTO users (id, status, created_at) VALUES ${sql.join(users)} ON CONFLICT (id) DO NOTHING
  `.execute(db)
  await sql`
    INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count, history_bytes, history_count,
      history_excess, changed_at, newest_at, freed_at)
    VALUES ${sql.join(quotas)}
    ON CONFLICT (user_id) DO UPDATE SET
      history_bytes = quotas.history_bytes + excluded.history_bytes,
      history_count = quotas.history_count + excluded.history_count
  `.execute(db)
  const past = versions.map((version) => {
    const columns = sql.join(MEMBERS_OF_VERSION.map((member) => version[member]))
    return sql`(${columns}, ${ENDED_AT}, 'replaced', ${sql.lit(NEVER)}, NULL, NULL, 0)`
  })
  await sql`${INSERT_PAST} VALUES ${sql.join(past)}`.execute(db)
}

/** Later than any date that a content of the names had before the rebuild. */
function secondAfter(now: RawBuilder<number>): RawBuilder<number> {
  return sql<number>`((${now} / 1000 + 1) * 1000)`
}

/** All have ended at the same time, so the index by name has them in this order. */
async function list(
  db: Kysely<Tables>,
  { before, limit }: Parameters<RebuildLedger['list']>[0],
): Promise<readonly FileVersion[]> {
  const from =
    before &&
    sql`WHERE (user_id, name, ended_at, version) < (${before.userId}, ${before.name}, ${ENDED_AT}, ${before.version})`
  const { rows } = await sql<FileVersion>`
    SELECT ${VERSION_COLUMNS} FROM history ${from ?? sql``}
    ORDER BY user_id DESC, name DESC, ended_at DESC, version DESC LIMIT ${limit}
  `.execute(db)
  return rows
}

/** Without ON CONFLICT: an unexpected file must fail the rebuild, so that neither version is lost. */
async function settle({ db, now }: Clocked, versions: readonly Version[]): Promise<void> {
  if (versions.length === 0) return
  const isSettled = sql`version IN (${sql.join(versions)})`
  const isRead = sql`sha256 <> ${sql.lit(UNREAD)}`
  const metadataBytes = metadataBytesOf(sql`metadata`)
  await sql`
    UPDATE quotas SET
      used_bytes = quotas.used_bytes + settled.used, file_count = quotas.file_count + settled.files,
      history_bytes = quotas.history_bytes - settled.bytes,
      history_count = quotas.history_count - settled.versions
    FROM (
      SELECT user_id, SUM(CASE WHEN ${isRead} THEN size + ${metadataBytes} ELSE 0 END) AS used,
        SUM(CASE WHEN ${isRead} THEN 1 ELSE 0 END) AS files,
        SUM(${garbageBytes(sql`size`)}) AS bytes, COUNT(*) AS versions
      FROM history WHERE ${isSettled} GROUP BY user_id
    ) AS settled
    WHERE quotas.user_id = settled.user_id
  `.execute(db)
  await sql`
    ${INSERT_FILE}
    SELECT ${VERSION_COLUMNS}, expires_at, 0, ${metadataBytes}, ${secondAfter(now)}, NULL
    FROM history WHERE ${isSettled} AND ${isRead}
  `.execute(db)
  await countFilesOfDevices(db, sql`history WHERE ${isSettled} AND ${isRead}`, metadataBytes)
  await sql`DELETE FROM history WHERE ${isSettled}`.execute(db)
}
