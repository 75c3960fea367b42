import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { createProgram } from '../../program.ts'
import { type Engine, openDatabase, startEngines } from '../../setup/engines.ts'
import { compareForeground } from './foreground.ts'

interface Asked {
  /** Objects to sweep. */
  readonly garbage: number
  readonly files: number
  readonly rounds: number
}

const DEFAULTS: Asked = { garbage: 100_000, files: 1_000_000, rounds: 4 }

const USERS = 10
/** `USERS` as SQL has it. */
const TEN = sql.lit(USERS)

/**
 * Sweeps objects and verifies files, on local files: how long it takes, at what rate, and how much memory it takes at
 * most. The first sweep is ended in the middle, the second brings it to its end. Then compares the requests of one
 * client beside sweeps with those beside none.
 */
export const sweep = createProgram({
  title: 'two sweeps of many objects, verify of many files, and requests during a sweep',
  options: DEFAULTS,
  run: async (asked) => {
    await using opened = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-bench-'))
    opened.defer(() => rm(folder, { recursive: true }))
    makeObjects(folder, 'user', asked.files)
    for (const engine of await startEngines(opened)) {
      await measure({ engine, url: await engine.createDatabase(), folder, ...asked })
    }
  },
})

interface Subject extends Asked {
  readonly engine: Engine
  readonly url: string
  /** Has the objects. */
  readonly folder: string
}

/** SQL for the version that stands for the number `n`. */
function versionOf({ name }: Engine): RawBuilder<unknown> {
  return name === 'SQLite'
    ? sql`printf('%08x-0000-7000-8000-000000000000', n)`
    : sql`lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000'`
}

async function measure(subject: Subject): Promise<void> {
  const { engine, folder, garbage, files, rounds } = subject
  const report = (line: string): void => console.log(`${engine.name}: ${line}`)
  makeObjects(folder, 'gone', garbage)
  await withDatabase(subject, (database) => load(database, subject))
  const first = await run(subject, ['sweep', '--json'], Math.ceil(garbage / 2))
  report(`a sweep ended in the middle, ${describe(first, first.removed)}`)
  const second = await run(subject, ['sweep', '--json'])
  report(`the sweep after it, ${describe(second, second.removed)}`)
  if (first.removed + second.removed < garbage) throw new Error('Not all garbage was removed.')
  const verified = await run(subject, ['verify', '--json'])
  report(`verify of ${files} files, ${describe(verified, files)}; ${verified.out}`)
  makeObjects(folder, 'gone', garbage)
  await withDatabase(subject, (database) => loadGarbage(database, subject))
  report(await compareForeground({ environment: environmentOf(subject), rounds }))
  const left = [...['foreground', ...usersOf('gone')].map((user) => join('users', user)), ...PACK]
  for (const path of left) await rm(join(objectsOf(folder), path), RECURSIVELY)
}

/** Has the small files of the foreground. */
const PACK = ['pack.sqlite', 'pack.sqlite-wal', 'pack.sqlite-shm']

const RECURSIVELY = { recursive: true, force: true }

async function withDatabase<T>(
  { url }: Subject,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(url)
  try {
    return await use(database)
  } finally {
    await database.close()
  }
}

function objectsOf(folder: string): string {
  return join(folder, 'objects')
}

function usersOf(kind: string): string[] {
  return Array.from({ length: USERS }, (_, n) => `${kind}${n}`)
}

/** Empty files where the store has its objects, spread over ten users. */
function makeObjects(folder: string, user: string, count: number): void {
  for (let n = 0; n < count; n++) {
    const version = `${n.toString(16).padStart(8, '0')}-0000-7000-8000-000000000000`
    const path = join(objectsOf(folder), 'users', `${user}${n % USERS}`, version)
    if (n < USERS) mkdirSync(dirname(path), { recursive: true })
    closeSync(openSync(path, 'w'))
  }
}

async function load(database: Database, subject: Subject): Promise<void> {
  const { engine, files } = subject
  const version = versionOf(engine)
  await migrate(database)
  await sql`
    INSERT INTO users (id, status, created_at)
    SELECT 'user' || n, 'active', 0 FROM ${engine.numbers(USERS)} AS numbers
  `.execute(database.kysely)
  await sql`
    INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count)
    SELECT 'user' || n, 0, 0, CAST(${files / USERS} AS BIGINT) FROM ${engine.numbers(USERS)} AS numbers
  `.execute(database.kysely)
  await sql`
    INSERT INTO files
      (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
    SELECT 'user' || (n % ${TEN}), 'file-' || n, ${version},
      'users/user' || (n % ${TEN}) || '/' || ${version}, 0, 'sha256', 0, 'private', 0, n
    FROM ${engine.numbers(files)} AS numbers
  `.execute(database.kysely)
  await loadGarbage(database, subject)
}

async function loadGarbage(database: Database, { engine, garbage }: Subject): Promise<void> {
  const version = versionOf(engine)
  await sql`
    INSERT INTO garbage (object_key, not_before)
    SELECT 'users/gone' || (n % ${TEN}) || '/' || ${version}, n % 1000
    FROM ${engine.numbers(garbage)} AS numbers
    WHERE true
    ON CONFLICT (object_key) DO NOTHING
  `.execute(database.kysely)
}

function environmentOf({ url, folder }: Subject): NodeJS.ProcessEnv {
  const store = { OBJECT_STORE: `file:${objectsOf(folder)}`, DATA_DIR: folder }
  return { ...process.env, DATABASE_URL: url, ...store }
}

interface Outcome {
  readonly seconds: number
  readonly peakMiB: number
  /** Objects whose garbage is gone. */
  readonly removed: number
  readonly out: string
}

/** Runs a command of the service to its end, or until that many objects are left of the garbage. */
async function run(subject: Subject, args: string[], leave = 0): Promise<Outcome> {
  const before = await countGarbage(subject)
  const started = performance.now()
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    env: environmentOf(subject),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const output = Array.fromAsync(child.stdout.setEncoding('utf8'))
  let [peakMiB, isEnding] = [0, false]
  while (child.exitCode === null && child.signalCode === null) {
    peakMiB = Math.max(peakMiB, await peakOf(child.pid))
    if (!isEnding && leave > 0 && (await countGarbage(subject)) <= leave) {
      // A second signal would end it without its leave.
      isEnding = child.kill('SIGINT')
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const seconds = (performance.now() - started) / 1000
  const out = (await output).join('').trim().split('\n').at(-1) ?? ''
  if (leave === 0 && (await exited) !== 0) throw new Error(`${args.join(' ')} failed: ${out}`)
  return { seconds, peakMiB, removed: before - (await countGarbage(subject)), out }
}

async function countGarbage(subject: Subject): Promise<number> {
  return await withDatabase(subject, async ({ kysely }) => {
    const { rows } = await sql<{ readonly count: number }>`
      SELECT COUNT(*) AS count FROM garbage
    `.execute(kysely)
    return rows[0]?.count ?? 0
  })
}

/** As Linux keeps it; 0 elsewhere. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024
}

function describe({ seconds, peakMiB }: Outcome, count: number): string {
  const rate = Math.round(count / seconds)
  return `${count} in ${seconds.toFixed(1)} s (${rate}/s), ${peakMiB.toFixed(0)} MiB at most`
}
