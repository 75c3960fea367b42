import { type RawBuilder, sql } from 'kysely'
import type { DatabaseConfig } from '../../src/config/parsers.ts'
import type { Database } from '../../src/database/database.ts'
import { openPostgres } from '../../src/database/postgres/postgres.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'

const LOAD_TIMEOUT_MS = 1_800_000

/** Gives users that many files of which there are only the rows. */
export async function plantFiles(
  config: DatabaseConfig,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const isSqlite = config.kind === 'sqlite'
  const database = isSqlite
    ? await openSqlite(config)
    : await openPostgres({ ...config, timeoutMs: LOAD_TIMEOUT_MS })
  try {
    for (const [userId, count] of Object.entries(counts)) {
      await plant(database, userId, isSqlite ? sqliteNumbers(count) : postgresNumbers(count))
    }
    // As the server does by itself after a while.
    if (!isSqlite) await sql`VACUUM ANALYZE`.execute(database.kysely)
  } finally {
    await database.close()
  }
}

const SIZE = 100

async function plant(
  { kysely }: Database,
  userId: string,
  numbers: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    INSERT INTO files
      (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
    SELECT ${userId}, 'photo-' || (1000000000 + n * 7919 % 999983) || '-' || n, ${userId} || '-' || n,
      'users/' || ${userId} || '/' || n, ${sql.lit(SIZE)}, 'sha256', 0, 'private', 0, n * 15485863 % 999979
    FROM ${numbers} AS numbers
  `.execute(kysely)
  await sql`
    UPDATE quotas SET (used_bytes, file_count) =
      (SELECT sum(size), count(*) FROM files WHERE user_id = ${userId})
    WHERE user_id = ${userId}
  `.execute(kysely)
}

function sqliteNumbers(count: number): RawBuilder<unknown> {
  return sql`(
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT n FROM numbers
  )`
}

function postgresNumbers(count: number): RawBuilder<unknown> {
  return sql`(SELECT n FROM generate_series(CAST(1 AS BIGINT), CAST(${count} AS BIGINT)) AS n)`
}
