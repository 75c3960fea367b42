import { type RawBuilder, sql } from 'kysely'
import { parseFileNamePrefix } from '../../src/core/files/file-name.ts'
import { MAX_SCANNED_FILES } from '../../src/core/files/listing.ts'
import { MAX_OPERATIONS } from '../../src/core/files/operation.ts'
import { type Caller, callerOf } from '../../src/core/users/caller.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import type { Database } from '../../src/database/database.ts'
import { createLedger, type Ledger } from '../../src/database/ledger.ts'
import { migrate } from '../../src/database/migrate.ts'
import { createUserStore } from '../../src/database/users/user-store.ts'
import { mediansOf } from '../measure/medians.ts'
import { spreadOf } from '../measure/statistics.ts'
import { createProgram } from '../program.ts'
import { type Engine, openDatabase, startEngines } from '../setup/engines.ts'

const PAGE = 100
const LARGEST_RATIO = 1.5
const LONGEST_RENAME_MS = 300

interface Asked {
  readonly check: boolean
  readonly files: number
  readonly rounds: number
}

const DEFAULTS: Asked = { check: false, files: 100_000, rounds: 30 }

/** A folder with few files or folders, and one with as much to show and many more files below. */
const PAIRS = [
  ['few-below/', 'one/'],
  ['few/', 'all/'],
  ['few-folders/', 'each/'],
] as const

/** Compares folders of many files with folders of few, and renames one of as many files as a batch may change. */
export const folders = createProgram({
  title: `folders of many files, opened and renamed; --check fails above ${LARGEST_RATIO} times or ${LONGEST_RENAME_MS} ms`,
  options: DEFAULTS,
  run: async (asked) => {
    await using opened = new AsyncDisposableStack()
    const engines = await startEngines(opened)
    let isFast = engines.length === 2
    for (const engine of engines) isFast = (await measureEngine(engine, asked)) && isFast
    return !asked.check || isFast
  },
})

async function measureEngine(engine: Engine, asked: Asked): Promise<boolean> {
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(await engine.createDatabase())
  opened.defer(() => database.close())
  const caller = await load(database, engine, asked.files)
  const ledger = createLedger(database, { baseCapacity: 2 ** 40, historyLifetimeMs: 3_600_000 })
  const subject = { ledger, caller, rounds: asked.rounds }
  const isFast = await measure(`${engine.name}, no statistics`, subject)
  if (engine.name === 'SQLite') return isFast
  await sql`VACUUM ANALYZE`.execute(database.kysely)
  return (await measure(`${engine.name}, analysed`, subject)) && isFast
}

async function load(database: Database, engine: Engine, files: number): Promise<Caller> {
  await migrate(database)
  const userId = parseUserId('user')
  const { user } = await createUserStore(database, { baseCapacity: 0 }).createUser(userId)
  const add = (count: number, name: RawBuilder<unknown>) =>
    sql`
      INSERT INTO files
        (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
      SELECT ${userId}, ${name}, ${name}, ${name}, 1, 'sha256', 0, 'private', 1, 1
      FROM ${engine.numbers(count)} AS numbers
    `.execute(database.kysely)
  const number = sql`(1000000 + n)`
  await add(1, sql`'few-below/below/' || n`)
  await add(files, sql`'one/below/' || n`)
  await add(PAGE, sql`'few/' || ${number}`)
  await add(files, sql`'all/' || ${number}`)
  await add(PAGE, sql`'few-folders/' || ${number} || '/a'`)
  await add(files, sql`'each/' || (1000000 + n / 10) || '/' || n`)
  await add(MAX_OPERATIONS, sql`'renamed/' || n`)
  await sql`
    UPDATE quotas SET (used_bytes, file_count) = (SELECT COUNT(*), COUNT(*) FROM files)
  `.execute(database.kysely)
  return callerOf(user)
}

interface Subject {
  readonly ledger: Ledger
  readonly caller: Caller
  readonly rounds: number
}

async function measure(name: string, subject: Subject): Promise<boolean> {
  let isFast = true
  for (const [few, many] of PAIRS) {
    const open = [few, many].map((folder) => () => openFolder(subject, folder))
    const [small = 0, large = 0] = await mediansOf(subject.rounds, open)
    const figures = `${few} ${small.toFixed(3)} ms, ${many} ${large.toFixed(3)} ms`
    console.log(`${name}: ${figures}, ratio ${(large / small).toFixed(2)}`)
    isFast = isFast && large <= LARGEST_RATIO * small
  }
  const renames = await renameFolder(subject)
  const { median = 0, most = 0 } = spreadOf(renames) ?? {}
  const figures = `${median.toFixed(1)} ms, at most ${most.toFixed(1)} ms`
  console.log(`${name}: ${MAX_OPERATIONS} files renamed in ${figures}`)
  return isFast && median <= LONGEST_RENAME_MS
}

async function openFolder({ ledger, caller }: Subject, folder: string): Promise<void> {
  const prefix = parseFileNamePrefix(folder)
  await ledger.listFiles({
    userId: caller.userId,
    prefix,
    rollUp: { delimiter: '/', prefix },
    order: 'name',
    after: undefined,
    limit: PAGE,
    audience: 'owner',
    maxScanned: MAX_SCANNED_FILES,
  })
}

/** There and back. */
async function renameFolder({ ledger, caller, rounds }: Subject): Promise<readonly number[]> {
  const [here, there] = ['renamed/', 'renamed/below/'].map((folder) => parseFileNamePrefix(folder))
  if (here === undefined || there === undefined) throw new TypeError('There are two folders')
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [prefix, newPrefix] of [
      [here, there],
      [there, here],
    ] as const) {
      const operation = { op: 'rename-prefix', prefix, newPrefix, overwrite: false } as const
      const started = performance.now()
      await ledger.changeFiles({ ...caller, operations: [operation] })
      times.push(performance.now() - started)
    }
  }
  return times
}
