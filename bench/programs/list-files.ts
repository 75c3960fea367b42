import { sql } from 'kysely'
import { parseFileNamePrefix } from '../../src/core/files/file-name.ts'
import {
  type FileOrder,
  type FilePosition,
  MAX_SCANNED_FILES,
  positionOf,
} from '../../src/core/files/listing.ts'
import { parseUserId, type UserId } from '../../src/core/users/user-id.ts'
import type { Database } from '../../src/database/database.ts'
import { createLedger, type Ledger } from '../../src/database/ledger.ts'
import { migrate } from '../../src/database/migrate.ts'
import { createUserStore } from '../../src/database/users/user-store.ts'
import { mediansOf } from '../measure/medians.ts'
import { createProgram } from '../program.ts'
import { type Engine, openDatabase, startEngines } from '../setup/engines.ts'

const PAGE = 100
const LARGEST_RATIO = 1.5

const [many, few] = [parseUserId('many'), parseUserId('few')]

/** Each order that is measured, and its reverse. */
const ORDERS = [
  ['name', '-name'],
  ['-updated_at', 'updated_at'],
  ['size', '-size'],
] as const satisfies (readonly [FileOrder, FileOrder])[]

interface Asked {
  readonly check: boolean
  readonly files: number
  readonly rounds: number
}

const DEFAULTS: Asked = { check: false, files: 1_000_000, rounds: 300 }

/**
 * Compares a page of a user's listing with a million files around it with one that is all there is, and prints the
 * ratios of the medians.
 */
export const listFiles = createProgram({
  title:
    'pages of a listing for a user with many files and one with few; --check fails above 1.5 times',
  options: DEFAULTS,
  run: async (asked) => {
    await using opened = new AsyncDisposableStack()
    const engines = await startEngines(opened)
    const ratios: number[] = []
    for (const engine of engines) ratios.push(...(await measureEngine(engine, asked)))
    const worst = Math.max(...ratios)
    console.log(`largest ratio ${worst.toFixed(2)}, bound ${LARGEST_RATIO}`)
    return !asked.check || (engines.length === 2 && worst <= LARGEST_RATIO)
  },
})

async function measureEngine(engine: Engine, asked: Asked): Promise<number[]> {
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(await engine.createDatabase())
  opened.defer(() => database.close())
  await load(database, engine, asked.files)
  const ratios = await measure(database, `${engine.name}, no statistics`, asked)
  if (engine.name === 'SQLite') return ratios
  await sql`VACUUM ANALYZE`.execute(database.kysely)
  return [...ratios, ...(await measure(database, `${engine.name}, analysed`, asked))]
}

async function load(database: Database, engine: Engine, files: number): Promise<void> {
  await migrate(database)
  const users = createUserStore(database, { baseCapacity: 0 })
  for (const [userId, count] of [
    [many, files],
    [few, PAGE],
  ] as const) {
    await users.createUser(userId)
    await sql`
      INSERT INTO files
        (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
      SELECT ${userId}, 'photo-' || (1000000000 + n * 7919 % 999983) || '-' || n, ${userId} || n,
        'users/' || ${userId} || '/' || n, n * 104729 % 99991, 'sha256', 0, 'private', 0, n * 15485863 % 999979
      FROM ${engine.numbers(count)} AS numbers
    `.execute(database.kysely)
  }
}

async function measure(database: Database, engine: string, asked: Asked): Promise<number[]> {
  const ledger = createLedger(database, { baseCapacity: 0 })
  const ratios: number[] = []
  for (const [order, reverse] of ORDERS) {
    const turned = await page(ledger, { userId: many, order: reverse, limit: PAGE + 1 })
    const before = turned.at(-1)
    if (before === undefined) throw new Error('There are no files.')
    const medians = await mediansOf(asked.rounds, [
      () => page(ledger, { userId: few, order }),
      () => page(ledger, { userId: many, order }),
      () => page(ledger, { userId: many, order, after: positionOf(before, order) }),
    ])
    const [alone = 0, first = 0, last = 0] = medians
    ratios.push(first / alone, last / alone)
    const figures = medians.map((ms) => `${ms.toFixed(3)} ms`).join(', ')
    console.log(
      `${engine}, by ${order}: ${PAGE} files ${figures} (first, last of ${asked.files}); ` +
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
