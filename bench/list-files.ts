// Compares a page of a user's listing with a million files around it with one that is all there is, on SQLite and on
// PostgreSQL. Prints the ratios of the medians; with `--check` it fails when one is above the bound.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type RawBuilder, sql } from 'kysely'
import { parseFileNamePrefix } from '../src/core/files/file-name.ts'
import {
  type FileOrder,
  type FilePosition,
  MAX_SCANNED_FILES,
  positionOf,
} from '../src/core/files/listing.ts'
import { parseUserId, type UserId } from '../src/core/users/user-id.ts'
import type { Database } from '../src/database/database.ts'
import { createLedger, type Ledger } from '../src/database/ledger/ledger.ts'
import { migrate } from '../src/database/migrate.ts'
import { openPostgres } from '../src/database/postgres/postgres.ts'
import { openSqlite } from '../src/database/sqlite/sqlite.ts'
import { createUserStore } from '../src/database/users/user-store.ts'
import { createDatabase, startPostgres } from '../test/support/servers/postgres.ts'

const { values: settings } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    files: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '300' },
  },
})

const MANY = Number(settings.files)
const ROUNDS = Number(settings.rounds)
const PAGE = 100
const LARGEST_RATIO = 1.5
const LOAD_TIMEOUT_MS = 1_800_000

const [many, few] = [parseUserId('many'), parseUserId('few')]

/** Each order that is measured, and its reverse. */
const ORDERS = [
  ['name', '-name'],
  ['-updated_at', 'updated_at'],
  ['size', '-size'],
] as const satisfies (readonly [FileOrder, FileOrder])[]

const ratios = [...(await measureSqlite()), ...(await measurePostgres())]
const worst = Math.max(...ratios)
print(`largest ratio ${worst.toFixed(2)}, bound ${LARGEST_RATIO}`)
if (settings.check && !(worst <= LARGEST_RATIO)) process.exitCode = 1

async function measureSqlite(): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-bench-'))
  const database = await openSqlite({ file: join(folder, 'bench.db') })
  try {
    await load(
      database,
      (count) => sql`(
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
        SELECT n FROM numbers
      )`,
    )
    return await measure(database, 'SQLite')
  } finally {
    await database.close()
    await rm(folder, { recursive: true })
  }
}

async function measurePostgres(): Promise<number[]> {
  const server = await startPostgres()
  if ('unavailable' in server) {
    print(server.unavailable)
    return settings.check ? [Number.NaN] : []
  }
  const own = await createDatabase(server.url)
  const database = await openPostgres({ url: own.url, timeoutMs: LOAD_TIMEOUT_MS })
  try {
    const numbers = (count: number): RawBuilder<unknown> =>
      sql`(SELECT n FROM generate_series(CAST(1 AS BIGINT), CAST(${count} AS BIGINT)) AS n)`
    await load(database, numbers)
    const unanalysed = await measure(database, 'PostgreSQL, no statistics')
    await sql`VACUUM ANALYZE`.execute(database.kysely)
    return [...unanalysed, ...(await measure(database, 'PostgreSQL, analysed'))]
  } finally {
    await database.close()
    await own.drop()
    await server.stop()
  }
}

async function load(
  database: Database,
  numbers: (count: number) => RawBuilder<unknown>,
): Promise<void> {
  await migrate(database)
  const users = createUserStore(database, { baseCapacity: 0 })
  for (const [userId, count] of [
    [many, MANY],
    [few, PAGE],
  ] as const) {
    await users.createUser(userId)
    await sql`
      INSERT INTO files
        (user_id, name, version, object_key, size, sha256, visibility, created_at, updated_at)
      SELECT ${userId}, 'photo-' || (1000000000 + n * 7919 % 999983) || '-' || n, ${userId} || n,
        'users/' || ${userId} || '/' || n, n * 104729 % 99991, 'sha256', 'private', 0, n * 15485863 % 999979
      FROM ${numbers(count)} AS numbers
    `.execute(database.kysely)
  }
}

async function measure(database: Database, engine: string): Promise<number[]> {
  const ledger = createLedger(database, { baseCapacity: 0 })
  const ratios: number[] = []
  for (const [order, reverse] of ORDERS) {
    const turned = await page(ledger, { userId: many, order: reverse, limit: PAGE + 1 })
    const before = turned.at(-1)
    if (before === undefined) throw new Error('There are no files.')
    const medians = await mediansOf([
      () => page(ledger, { userId: few, order }),
      () => page(ledger, { userId: many, order }),
      () => page(ledger, { userId: many, order, after: positionOf(before, order) }),
    ])
    const [alone = 0, first = 0, last = 0] = medians
    ratios.push(first / alone, last / alone)
    const figures = medians.map((ms) => `${ms.toFixed(3)} ms`).join(', ')
    print(
      `${engine}, by ${order}: ${PAGE} files ${figures} (first, last of ${MANY}); ` +
        `ratios ${(first / alone).toFixed(2)}, ${(last / alone).toFixed(2)}`,
    )
  }
  return ratios
}

interface Page {
  readonly userId: UserId
  readonly order: FileOrder
  readonly after?: FilePosition
  readonly limit?: number
}

async function page(ledger: Ledger, { userId, order, after, limit = PAGE }: Page) {
  const prefix = parseFileNamePrefix('')
  const { files } = await ledger.listFiles({
    userId,
    order,
    after,
    limit,
    prefix,
    audience: 'owner',
    maxScanned: MAX_SCANNED_FILES,
  })
  if (files.length !== limit) throw new Error(`${files.length} files instead of ${limit}`)
  return files
}

/** In milliseconds; taken in turns, so that what else the machine does meets all alike. */
async function mediansOf(works: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const times = works.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, work] of works.entries()) {
      const started = performance.now()
      await work()
      times[index]?.push(performance.now() - started)
    }
  }
  return times.map((each) => each.sort((a, b) => a - b)[Math.floor(each.length / 2)] ?? 0)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
