import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { openPostgres } from '../../src/database/postgres/postgres.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { createDatabase, startPostgres } from '../../test/support/servers/postgres.ts'

export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL'
  /** The URL of a new, empty database. */
  createDatabase(): Promise<string>
  /** SQL for a table of the numbers `n` from 0 to below `count`. */
  numbers(count: number): RawBuilder<unknown>
}

const LOAD_TIMEOUT_MS = 1_800_000

/** SQLite in a temporary folder, and PostgreSQL unless it prints why there is none. Both end with `opened`. */
export async function startEngines(opened: AsyncDisposableStack): Promise<readonly Engine[]> {
  const postgres = await startPostgresEngine(opened)
  return [await createSqliteEngine(opened), ...(postgres === undefined ? [] : [postgres])]
}

async function createSqliteEngine(opened: AsyncDisposableStack): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-bench-'))
  opened.defer(() => rm(folder, { recursive: true }))
  let databases = 0
  return {
    name: 'SQLite',
    createDatabase: async () => `sqlite:${join(folder, `${(databases += 1)}.db`)}`,
    numbers: (count) => sql`(
      WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${count})
      SELECT n FROM numbers
    )`,
  }
}

/** On the server of the tests, which logs no whole pages after a checkpoint. */
export async function startPostgresEngine(
  opened: AsyncDisposableStack,
): Promise<Engine | undefined> {
  const server = await startPostgres()
  if ('unavailable' in server) {
    console.log(server.unavailable)
    return undefined
  }
  opened.defer(() => server.stop())
  return {
    name: 'PostgreSQL',
    createDatabase: async () => {
      const own = await createDatabase(server.url)
      opened.defer(() => own.drop())
      return own.url
    },
    numbers: (count) => sql`(SELECT n FROM generate_series(0, CAST(${count} AS BIGINT) - 1) AS n)`,
  }
}

/** The path of the file, if the URL is of SQLite. */
export function fileOf(url: string): string | undefined {
  return url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined
}

/** With time for statements that fill it. */
export function openDatabase(url: string): Promise<Database> {
  const file = fileOf(url)
  return file === undefined
    ? openPostgres({ url, timeoutMs: LOAD_TIMEOUT_MS })
    : openSqlite({ file })
}
