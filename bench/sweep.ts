// Sweeps a hundred thousand objects and verifies a million files, on SQLite and on PostgreSQL, with local files: how
// long it takes, at what rate, and how much memory it takes at most. The first sweep is ended in the middle, the second
// brings it to its end. Then compares the requests of one client beside sweeps with those beside none.
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../src/database/database.ts'
import { migrate } from '../src/database/migrate.ts'
import { openPostgres } from '../src/database/postgres/postgres.ts'
import { openSqlite } from '../src/database/sqlite/sqlite.ts'
import { createDatabase, startPostgres } from '../test/support/servers/postgres.ts'
import { compareForeground } from './sweep-foreground.ts'

const { values: settings } = parseArgs({
  options: {
    garbage: { type: 'string', default: '100000' },
    files: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '4' },
  },
})

const GARBAGE = Number(settings.garbage)
const FILES = Number(settings.files)
const ROUNDS = Number(settings.rounds)
const USERS = 10
/** `USERS` as SQL has it. */
const TEN = sql.lit(USERS)
const LOAD_TIMEOUT_MS = 1_800_000

const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-bench-'))
const objects = join(folder, 'objects')
try {
  makeObjects('user', FILES)
  await measureSqlite()
  await measurePostgres()
} finally {
  await rm(folder, { recursive: true })
}

async function measureSqlite(): Promise<void> {
  const file = join(folder, 'bench.db')
  const database = await openSqlite({ file })
  const numbers = (count: number): RawBuilder<unknown> => sql`(
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${count})
    SELECT n FROM numbers
  )`
  const version = sql`printf('%08x-0000-7000-8000-000000000000', n)`
  await measure('SQLite', { database, url: `sqlite:${file}`, numbers, version })
}

async function measurePostgres(): Promise<void> {
  const server = await startPostgres()
  if ('unavailable' in server) return print(server.unavailable)
  const own = await createDatabase(server.url)
  try {
    const database = await openPostgres({ url: own.url, timeoutMs: LOAD_TIMEOUT_MS })
    const numbers = (count: number): RawBuilder<unknown> =>
      sql`(SELECT n FROM generate_series(0, CAST(${count} AS BIGINT) - 1) AS n)`
    const version = sql`lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000'`
    await measure('PostgreSQL', { database, url: own.url, numbers, version })
  } finally {
    await own.drop()
    await server.stop()
  }
}

interface Subject {
  /** Closed when it is loaded. */
  readonly database: Database
  readonly url: string
  /** SQL for a table of the numbers below `count`. */
  readonly numbers: (count: number) => RawBuilder<unknown>
  /** SQL for the version that stands for the number `n`. */
  readonly version: RawBuilder<unknown>
}

async function measure(engine: string, subject: Subject): Promise<void> {
  makeObjects('gone', GARBAGE)
  await load(subject)
  await subject.database.close()
  const command = (...args: string[]): Promise<Outcome> => run(subject, args)
  const first = await run(subject, ['sweep', '--json'], Math.ceil(GARBAGE / 2))
  print(`${engine}: a sweep ended in the middle, ${describe(first, first.removed)}`)
  const second = await command('sweep', '--json')
  print(`${engine}: the sweep after it, ${describe(second, second.removed)}`)
  if (first.removed + second.removed < GARBAGE) throw new Error('Not all garbage was removed.')
  const verified = await command('verify', '--json')
  print(`${engine}: verify of ${FILES} files, ${describe(verified, FILES)}; ${verified.out}`)
  makeObjects('gone', GARBAGE)
  const again = subject.url.startsWith('sqlite:')
    ? await openSqlite({ file: subject.url.slice('sqlite:'.length) })
    : await openPostgres({ url: subject.url, timeoutMs: LOAD_TIMEOUT_MS })
  await loadGarbage({ ...subject, database: again })
  await again.close()
  const environment = environmentOf(subject)
  print(`${engine}: ${await compareForeground({ environment, rounds: ROUNDS })}`)
  for (const user of ['foreground', ...usersOf('gone')]) {
    await rm(join(objects, 'users', user), { recursive: true, force: true })
  }
}

function usersOf(kind: string): string[] {
  return Array.from({ length: USERS }, (_, n) => `${kind}${n}`)
}

/** Empty files where the store has its objects, spread over ten users. */
function makeObjects(user: string, count: number): void {
  for (let n = 0; n < count; n++) {
    const version = `${n.toString(16).padStart(8, '0')}-0000-7000-8000-000000000000`
    const path = join(objects, 'users', `${user}${n % USERS}`, version)
    if (n < USERS) mkdirSync(dirname(path), { recursive: true })
    closeSync(openSync(path, 'w'))
  }
}

async function load(subject: Subject): Promise<void> {
  const { database, numbers, version } = subject
  await migrate(database)
  await sql`
    INSERT INTO users (id, status, created_at)
    SELECT 'user' || n, 'active', 0 FROM ${numbers(USERS)} AS numbers
  `.execute(database.kysely)
  await sql`
    INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count)
    SELECT 'user' || n, 0, 0, CAST(${FILES / USERS} AS BIGINT) FROM ${numbers(USERS)} AS numbers
  `.execute(database.kysely)
  await sql`
    INSERT INTO files
      (user_id, name, version, object_key, size, sha256, visibility, created_at, updated_at)
    SELECT 'user' || (n % ${TEN}), 'file-' || n, ${version},
      'users/user' || (n % ${TEN}) || '/' || ${version}, 0, 'sha256', 'private', 0, n
    FROM ${numbers(FILES)} AS numbers
  `.execute(database.kysely)
  await loadGarbage(subject)
}

async function loadGarbage({ database, numbers, version }: Subject): Promise<void> {
  await sql`
    INSERT INTO garbage (object_key, not_before)
    SELECT 'users/gone' || (n % ${TEN}) || '/' || ${version}, n % 1000
    FROM ${numbers(GARBAGE)} AS numbers
    WHERE true
    ON CONFLICT (object_key) DO NOTHING
  `.execute(database.kysely)
}

function environmentOf({ url }: Subject): NodeJS.ProcessEnv {
  return { ...process.env, DATABASE_URL: url, OBJECT_STORE: `file:${objects}`, DATA_DIR: folder }
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
  const before = await countGarbage(subject.url)
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
    if (!isEnding && leave > 0 && (await countGarbage(subject.url)) <= leave) {
      // A second signal would end it without its leave.
      isEnding = child.kill('SIGINT')
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const seconds = (performance.now() - started) / 1000
  const out = (await output).join('').trim().split('\n').at(-1) ?? ''
  if (leave === 0 && (await exited) !== 0) throw new Error(`${args.join(' ')} failed: ${out}`)
  return { seconds, peakMiB, removed: before - (await countGarbage(subject.url)), out }
}

async function countGarbage(url: string): Promise<number> {
  const database = url.startsWith('sqlite:')
    ? await openSqlite({ file: url.slice('sqlite:'.length) })
    : await openPostgres({ url })
  try {
    const { rows } = await sql<{ readonly count: number }>`
      SELECT COUNT(*) AS count FROM garbage
    `.execute(database.kysely)
    return rows[0]?.count ?? 0
  } finally {
    await database.close()
  }
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

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
