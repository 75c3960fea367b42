import { sql } from 'kysely'
import { parseFileName } from '../../src/core/files/file-name.ts'
import { objectKey, createVersion } from '../../src/core/objects/object-key.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import type { Database } from '../../src/database/database.ts'
import { createLedger } from '../../src/database/ledger.ts'
import { migrate } from '../../src/database/migrate.ts'
import { createProgram } from '../program.ts'
import { openDatabase, startPostgresEngine } from '../setup/engines.ts'

const CLIENTS = 16

interface Asked {
  readonly users: number
  /** Of each user. */
  readonly files: number
  readonly uploads: number
}

const DEFAULTS: Asked = { users: 10_000, files: 100, uploads: 5_000 }

/**
 * How much PostgreSQL keeps and writes: bytes of a user, of a file, of an upload and of a change, with their indexes, and
 * bytes of the write-ahead log for an upload. The rows are as users make them, each user's between those of all others;
 * uploads go through the ledger, 16 at a time, each of another user.
 */
export const size = createProgram({
  title: 'the bytes that PostgreSQL stores and writes for a user, a file and an upload',
  options: DEFAULTS,
  run: async (asked) => {
    await using opened = new AsyncDisposableStack()
    const engine = await startPostgresEngine(opened)
    if (engine === undefined) return false
    const database = await openDatabase(await engine.createDatabase())
    opened.defer(() => database.close())
    await migrate(database)
    await plant(database, asked)
    await sql`VACUUM ANALYZE`.execute(database.kysely)
    const users = { of: 'user', count: asked.users }
    await reportTables(database, ['users', 'quotas', 'access_tokens'], users)
    await reportTables(database, ['files'], { of: 'file', count: asked.users * asked.files })
    await reportUploads(database, asked)
    return true
  },
})

/** Users have UUIDs and a token each; files have names of 24 bytes, as cameras give them. */
async function plant({ kysely }: Database, { users: userCount, files }: Asked): Promise<void> {
  const userId = sql`md5(u::text)::uuid::text`
  const users = sql`generate_series(1, ${sql.lit(userCount)}) AS u`
  const statements = [
    sql`INSERT INTO users (id, status, created_at) SELECT ${userId}, 'active', 0 FROM ${users}`,
    sql`
      INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count, capacity_state)
      SELECT ${userId}, ${sql.lit(files)} * 4096, 0, ${sql.lit(files)}, 'normal' FROM ${users}
    `,
    sql`
      INSERT INTO access_tokens (sha256, token_id, user_id, label, created_at)
      SELECT sha256(u::text::bytea)::text, md5('token' || u)::uuid::text, ${userId}, 'app', 0 FROM ${users}
    `,
    sql`
      INSERT INTO files
        (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
      SELECT user_id, 'IMG_' || lpad((n * 7919 % 99999999)::text, 8, '0') || '_4000x3.jpg', version,
             'users/' || user_id || '/' || version, 4096,
             encode(sha256(version::bytea), 'hex'), 0, 'private', n, n
      FROM (
        SELECT ${userId} AS user_id, n,
               to_char(n, 'FM00000000') || '-0000-7' || substr(md5(u || 'a' || n), 1, 3) || '-8' ||
               substr(md5(u || 'b' || n), 1, 3) || '-' || substr(md5(u || 'c' || n), 1, 12) AS version
        FROM generate_series(1, ${sql.lit(files)}) AS n, ${users}
      ) AS planted
    `,
  ]
  for (const statement of statements) await statement.execute(kysely)
}

interface Share {
  readonly of: string
  readonly count: number
}

async function reportTables(
  database: Database,
  tables: readonly string[],
  { of, count }: Share,
): Promise<void> {
  let [rows, indexes] = [0, 0]
  for (const table of tables) {
    const sizes = await sql<{ readonly rows: number; readonly indexes: number }>`
      SELECT pg_table_size(${table}::regclass) AS rows, pg_indexes_size(${table}::regclass) AS indexes
    `.execute(database.kysely)
    rows += sizes.rows[0]?.rows ?? 0
    indexes += sizes.rows[0]?.indexes ?? 0
  }
  console.log(
    `${of}: ${(rows / count).toFixed(0)} bytes, indexes ${(indexes / count).toFixed(0)} bytes`,
  )
}

async function reportUploads(database: Database, { users: most, uploads }: Asked): Promise<void> {
  const ledger = createLedger(database, { baseCapacity: 2 ** 40 })
  const { rows } = await sql<{ readonly id: string }>`
    SELECT id FROM users ORDER BY md5(id) LIMIT ${sql.lit(Math.min(most, uploads))}
  `.execute(database.kysely)
  const users = rows.map(({ id }) => parseUserId(id))
  const before = await written(database)
  let next = 0
  const clients = Array.from({ length: CLIENTS }, async () => {
    for (let at = next++; at < uploads; at = next++) {
      const userId = users[at % users.length]
      if (userId === undefined) throw new Error('There is no user')
      const version = createVersion()
      const caller = { userId, userCreatedAt: 0 }
      const upload = {
        ...caller,
        version,
        name: parseFileName(`IMG_${at}_of_today_4000x3.jpg`),
        objectKey: objectKey(userId, version),
        bytes: 4096,
      }
      await ledger.begin(upload)
      const content = { size: 4096, sha256: 'a'.repeat(64), crc32: 0, visibility: undefined }
      await ledger.commit({ ...caller, version, ...content })
    }
  })
  await Promise.all(clients)
  const bytes = (await written(database)) - before
  console.log(`write-ahead log of an upload: ${(bytes / uploads).toFixed(0)} bytes`)
  await sql`VACUUM ANALYZE`.execute(database.kysely)
  await reportTables(database, ['uploads'], { of: 'upload, while its row is kept', count: uploads })
  await reportTables(database, ['changes'], { of: 'change', count: uploads })
}

/** Bytes of the write-ahead log so far. */
async function written(database: Database): Promise<number> {
  const { rows } = await sql<{ readonly bytes: number }>`
    SELECT CAST(pg_current_wal_lsn() - '0/0'::pg_lsn AS BIGINT) AS bytes
  `.execute(database.kysely)
  return rows[0]?.bytes ?? Number.NaN
}
