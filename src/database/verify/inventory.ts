import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { FiledObject } from '../../core/files/file.ts'
import {
  type Balance,
  FIGURES,
  type Figures,
  type Inventory,
  type PastObject,
  type TracedObject,
} from '../../core/verify/inventory.ts'
import { type ObjectKey, versionOf } from '../../core/objects/object-key.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { COUNTED_BYTES, garbageBytes } from '../ledger/counted-bytes.ts'
import { type Clocked, lockUser } from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS, VERSION_COLUMNS } from '../ledger/rows.ts'
import type { LedgerOptions } from '../operations/session.ts'
import { timesOf } from '../ledger/times.ts'
import type { Database } from '../database.ts'
import { countFilesOfDevices } from '../ledger/device-usage.ts'
import { discardObjects } from './discard.ts'
import type { Tables } from '../schema.ts'

/** `times` says when the sweeper may remove what `discardObjects` discards. */
export function createInventory(
  database: Database,
  { times }: Pick<LedgerOptions, 'times'> = {},
): Inventory {
  const { now, forUpdate } = database
  return {
    listBalances: (page) => database.query((db) => balances({ db, now }, pageOfUsers(page))),
    findBalance: (userId) =>
      database.query(async (db) => (await balances({ db, now }, oneUser(userId)))[0]),
    findUsers: (userIds) => database.query((db) => findUsers(db, userIds)),
    traceObjects: (keys) => database.query((db) => traceObjects(db, keys)),
    listFiles: (page) => database.query((db) => listFiles(db, page)),
    listPast: (page) => database.query((db) => listPast(db, page)),
    isCurrent: (file) => database.query((db) => isCurrent(db, file)),
    recount: (userId) =>
      database.transaction(async (db) => {
        await lockUser({ db, forUpdate }, userId)
        await recount(db, userId)
      }),
    discardObjects: (keys) => discardObjects(database, { keys, times: timesOf(times) }),
  }
}

/** Includes ids of both tables, because either may lack some. */
function pageOfUsers({
  after,
  limit,
}: Parameters<Inventory['listBalances']>[0]): RawBuilder<unknown> {
  return sql`
    SELECT id FROM (SELECT id FROM users WHERE id > ${after ?? ''} ORDER BY id LIMIT ${limit}) AS u
    UNION
    SELECT user_id FROM (
      SELECT user_id FROM quotas WHERE user_id > ${after ?? ''} ORDER BY user_id LIMIT ${limit}
    ) AS q
    ORDER BY 1 LIMIT ${limit}
  `
}

function oneUser(userId: UserId): RawBuilder<unknown> {
  return sql`
    SELECT id FROM users WHERE id = ${userId}
    UNION
    SELECT user_id FROM quotas WHERE user_id = ${userId}
  `
}

interface BalanceRow {
  readonly id: UserId
  readonly is_user: number
  readonly is_recorded: number
  readonly wrong_devices: number
  readonly now: number
}

/** SQL that counts each figure of the user with the id. */
function countedFigures(id: RawBuilder<unknown>) {
  const sum = (bytes: RawBuilder<unknown>, rows: RawBuilder<unknown>): RawBuilder<number> =>
    sql<number>`(SELECT CAST(COALESCE(SUM(${bytes}), 0) AS BIGINT) FROM ${rows})`
  const files = sql`files WHERE user_id = ${id}`
  const past = sql`history WHERE user_id = ${id}`
  const pastBytes = garbageBytes(sql`size`)
  return {
    used_bytes: sum(COUNTED_BYTES, files),
    reserved_bytes: sum(
      sql`reserved_bytes`,
      sql`uploads WHERE user_id = ${id} AND state = 'pending'`,
    ),
    file_count: sql<number>`(SELECT COUNT(*) FROM ${files})`,
    garbage_bytes: sum(
      sql`bytes`,
      sql`(
        SELECT bytes FROM garbage WHERE user_id = ${id}
        UNION ALL
        SELECT garbage_bytes FROM uploads WHERE user_id = ${id} AND state = 'aborted'
      ) AS counted`,
    ),
    history_bytes: sum(pastBytes, past),
    history_count: sql<number>`(SELECT COUNT(*) FROM ${past})`,
    history_protected: sum(pastBytes, sql`${past} AND is_protected = 1`),
  } satisfies Record<keyof Figures, RawBuilder<number>>
}

/** SQL for how many devices of the user with the id have another row in `device_usage` than their files add up to. */
function wrongDevices(id: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(
    SELECT COUNT(*) FROM (
      SELECT device_id FROM (
        SELECT device_id, used_bytes AS bytes, file_count AS files FROM device_usage
        WHERE user_id = ${id}
        UNION ALL
        SELECT device_id, -${COUNTED_BYTES}, -1 FROM files
        WHERE user_id = ${id} AND device_id IS NOT NULL
      ) AS usage
      GROUP BY device_id HAVING SUM(bytes) <> 0 OR SUM(files) <> 0
    ) AS wrong
  )`
}

async function balances(
  { db, now }: Clocked,
  ids: RawBuilder<unknown>,
): Promise<readonly Balance[]> {
  const counted = countedFigures(sql`ids.id`)
  const figures = FIGURES.map(
    (figure) => sql`
      quotas.${sql.ref(figure)} AS ${sql.ref(`recorded_${figure}`)},
      ${counted[figure]} AS ${sql.ref(`counted_${figure}`)}
    `,
  )
  const { rows } = await sql<BalanceRow & Readonly<Record<string, number>>>`
    SELECT ids.id, CASE WHEN users.id IS NULL THEN 0 ELSE 1 END AS is_user,
      CASE WHEN quotas.user_id IS NULL THEN 0 ELSE 1 END AS is_recorded,
      ${wrongDevices(sql`ids.id`)} AS wrong_devices, ${now} AS now, ${sql.join(figures)}
    FROM (${ids}) AS ids
    LEFT JOIN users ON users.id = ids.id
    LEFT JOIN quotas ON quotas.user_id = ids.id
    ORDER BY ids.id
  `.execute(db)
  return rows.map((row) => ({
    userId: row.id,
    isUser: row.is_user === 1,
    recorded: row.is_recorded === 1 ? figuresIn(row, 'recorded') : undefined,
    counted: figuresIn(row, 'counted'),
    wrongDevices: row.wrong_devices,
    readAt: row.now,
  }))
}

function figuresIn(row: Readonly<Record<string, number>>, kind: 'recorded' | 'counted'): Figures {
  const figures = FIGURES.map((figure) => [figure, row[`${kind}_${figure}`]])
  return Object.fromEntries(figures) as Figures
}

async function findUsers(
  db: Kysely<Tables>,
  userIds: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  if (userIds.length === 0) return new Set()
  const { rows } = await sql<{ readonly id: UserId }>`
    SELECT id FROM users WHERE id IN (${sql.join(userIds)})
    UNION
    SELECT user_id FROM quotas WHERE user_id IN (${sql.join(userIds)})
  `.execute(db)
  return new Set(rows.map(({ id }) => id))
}

interface TracedRow {
  readonly object_key: ObjectKey
  readonly size: number | null
  readonly since: number | null
}

/** Finds rows by the version in the key, which is indexed; in one statement, since a version moves between the tables. */
async function traceObjects(
  db: Kysely<Tables>,
  keys: readonly ObjectKey[],
): Promise<readonly TracedObject[]> {
  if (keys.length === 0) return []
  const versions = sql.join(keys.map(versionOf))
  const { rows } = await sql<TracedRow>`
    SELECT object_key, size, updated_at AS since FROM files WHERE version IN (${versions})
    UNION ALL
    SELECT object_key, size, ended_at FROM history WHERE version IN (${versions})
    UNION ALL
    SELECT object_key, NULL, NULL FROM uploads WHERE version IN (${versions})
    UNION ALL
    SELECT object_key, NULL, NULL FROM garbage WHERE object_key IN (${sql.join(keys)})
  `.execute(db)
  const traced = new Map<ObjectKey, TracedObject>()
  for (const { object_key: objectKey, size, since } of rows) {
    const content = size === null || since === null ? undefined : { size, since }
    traced.set(objectKey, { objectKey, content: content ?? traced.get(objectKey)?.content })
  }
  return [...traced.values()]
}

async function listFiles(
  db: Kysely<Tables>,
  { userId, after, limit }: Parameters<Inventory['listFiles']>[0],
): Promise<readonly FiledObject[]> {
  const { rows } = await sql<FiledObject>`
    SELECT ${FILE_COLUMNS} FROM files WHERE user_id = ${userId} AND name > ${after ?? ''}
    ORDER BY name LIMIT ${limit}
  `.execute(db)
  return rows
}

async function listPast(
  db: Kysely<Tables>,
  { userId, after, limit }: Parameters<Inventory['listPast']>[0],
): Promise<readonly PastObject[]> {
  const { rows } = await sql<PastObject>`
    SELECT ${VERSION_COLUMNS}, ended_at AS "endedAt" FROM history
    WHERE user_id = ${userId}
      AND (ended_at, version) > (${after?.endedAt ?? -1}, ${after?.version ?? ''})
    ORDER BY ended_at, version LIMIT ${limit}
  `.execute(db)
  return rows
}

async function isCurrent(
  db: Kysely<Tables>,
  { version, objectKey }: Parameters<Inventory['isCurrent']>[0],
): Promise<boolean> {
  const { rows } = await sql`
    SELECT version FROM files WHERE version = ${version} AND object_key = ${objectKey}
    UNION ALL
    SELECT version FROM history WHERE version = ${version} AND object_key = ${objectKey}
  `.execute(db)
  return rows.length === 1
}

async function recount(db: Kysely<Tables>, userId: UserId): Promise<void> {
  // Sequences go on after those that are there.
  const last = (column: RawBuilder<unknown>) => sql`COALESCE((
    SELECT ${column} FROM changes WHERE user_id = users.id ORDER BY sequence DESC LIMIT 1
  ), 0)`
  await sql`
    INSERT INTO quotas
      (user_id, used_bytes, reserved_bytes, file_count, change_count, changed_at, newest_at, freed_at)
    SELECT id, 0, 0, 0, ${last(sql`sequence`)}, ${last(sql`at`)}, newest, (newest / 1000 + 1) * 1000
    FROM users CROSS JOIN (
      SELECT COALESCE(MAX(updated_at), 0) AS newest FROM files
      WHERE user_id = ${userId} AND updated_at >= 0
    ) AS dates
    WHERE id = ${userId}
    ON CONFLICT (user_id) DO NOTHING
  `.execute(db)
  const counted = countedFigures(sql`quotas.user_id`)
  // Any excess makes the sweep look at the user. It knows the allowance, and records the excess that there is.
  await sql`
    UPDATE quotas
    SET ${sql.join(FIGURES.map((figure) => sql`${sql.ref(figure)} = ${counted[figure]}`))},
        history_excess = CASE WHEN ${counted.history_count} > 0 THEN 1 ELSE 0 END
    WHERE user_id = ${userId}
  `.execute(db)
  await sql`DELETE FROM device_usage WHERE user_id = ${userId}`.execute(db)
  const quota = sql`SELECT 1 FROM quotas WHERE user_id = ${userId}`
  await countFilesOfDevices(db, sql`files WHERE user_id = ${userId} AND EXISTS (${quota})`)
}
