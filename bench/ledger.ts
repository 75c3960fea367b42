// Uploads as the ledger alone sees them, begin and commit with a pause between them, on SQLite (without the thread
// that the service has for it) and on PostgreSQL. Prints
// uploads per second and the process's CPU time for each, for one user and for many, as medians of interleaved rounds.
// `--source` names the `src` of another checkout, to compare in the same run.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { type Caller, callerOf } from '../src/core/users/caller.ts'
import { parseFileName } from '../src/core/files/file-name.ts'
import type { Ledger } from '../src/database/ledger/ledger.ts'
import { objectKey, createVersion } from '../src/core/objects/object-key.ts'
import { parseUserId } from '../src/core/users/user-id.ts'
import type { Database } from '../src/database/database.ts'
import type * as Ledgers from '../src/database/ledger/ledger.ts'
import type * as Migrations from '../src/database/migrate.ts'
import type * as Postgres from '../src/database/postgres/postgres.ts'
import type * as Sqlite from '../src/database/sqlite/sqlite.ts'
import type * as UserStores from '../src/database/users/user-store.ts'
import { createDatabase, startPostgres } from '../test/support/servers/postgres.ts'

const { values: settings } = parseArgs({
  options: {
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    source: { type: 'string', multiple: true, default: [join(import.meta.dirname, '../src')] },
    users: { type: 'string', multiple: true, default: ['1', '8'] },
    put: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
  },
})

const CONNECTIONS = Number(settings.connections)
const MS_PER_ROUND = Number(settings.seconds) * 1000
const ROUNDS = Number(settings.rounds)
/** What the object store takes for 4 KiB on average, in milliseconds. */
const PUT_MS = Number(settings.put)
const SHA256 = 'a'.repeat(64)

interface Subject {
  readonly name: string
  readonly ledger: Ledger
  readonly users: readonly Caller[]
  readonly rounds: Round[]
}

interface Round {
  readonly uploadsPerSecond: number
  readonly cpuMsPerUpload: number
}

for (const engine of settings.engine) {
  await using opened = new AsyncDisposableStack()
  const open = engine === 'sqlite' ? await sqlite(opened) : await postgres(opened)
  if (open === undefined) continue
  const subjects: Subject[] = []
  for (const source of settings.source) {
    for (const users of settings.users) subjects.push(await prepare({ open, source, users }))
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const subject of subjects) subject.rounds.push(await measure(subject))
  }
  for (const { name, rounds } of subjects) report(`${engine} ${name}`, rounds)
}

type Open = (source: string) => Promise<Database>

async function sqlite(opened: AsyncDisposableStack): Promise<Open> {
  const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-bench-'))
  opened.defer(() => rm(folder, { recursive: true }))
  let databases = 0
  return async (source) => {
    const { openSqlite } = await load<typeof Sqlite>(source, 'sqlite/sqlite')
    const database = await openSqlite({ file: join(folder, `bench-${(databases += 1)}.db`) })
    opened.defer(() => database.close())
    return database
  }
}

async function postgres(opened: AsyncDisposableStack): Promise<Open | undefined> {
  const server = await startPostgres()
  if ('unavailable' in server) {
    print(server.unavailable)
    return undefined
  }
  opened.defer(() => server.stop())
  return async (source) => {
    const { openPostgres } = await load<typeof Postgres>(source, 'postgres/postgres')
    const own = await createDatabase(server.url)
    opened.defer(() => own.drop())
    const database = await openPostgres({ url: own.url })
    opened.defer(() => database.close())
    return database
  }
}

async function prepare(options: { open: Open; source: string; users: string }): Promise<Subject> {
  const { open, source } = options
  const { createLedger } = await load<typeof Ledgers>(source, 'ledger/ledger')
  const { migrate } = await load<typeof Migrations>(source, 'migrate')
  const { createUserStore } = await load<typeof UserStores>(source, 'users/user-store')
  const database = await open(source)
  await migrate(database)
  const store = createUserStore(database, { baseCapacity: 0 })
  const users = Array.from({ length: Number(options.users) }, (_, at) => parseUserId(`user-${at}`))
  const callers: Caller[] = []
  for (const userId of users) callers.push(callerOf((await store.createUser(userId)).user))
  const ledger = createLedger(database, { baseCapacity: 2 ** 40 })
  return { name: `${source} users=${users.length}`, ledger, users: callers, rounds: [] }
}

async function load<T>(source: string, module: string): Promise<T> {
  return (await import(pathToFileURL(resolve(source, `database/${module}.ts`)).href)) as T
}

async function measure(subject: Subject): Promise<Round> {
  const [cpu, started] = [process.cpuUsage(), performance.now()]
  const clients = Array.from({ length: CONNECTIONS }, (_, at) =>
    uploadUntil(subject, { client: at, end: started + MS_PER_ROUND }),
  )
  const counts = await Promise.all(clients)
  const uploads = counts.reduce((sum, count) => sum + count, 0)
  const { user, system } = process.cpuUsage(cpu)
  return {
    uploadsPerSecond: uploads / ((performance.now() - started) / 1000),
    cpuMsPerUpload: (user + system) / 1000 / uploads,
  }
}

/** Every second upload is one of a new name, the other replaces it. */
async function uploadUntil(
  { ledger, users }: Subject,
  { client, end }: { readonly client: number; readonly end: number },
): Promise<number> {
  const caller = users[client % users.length]
  if (caller === undefined) throw new Error('There is no user')
  const limits = { maxFiles: Number.MAX_SAFE_INTEGER, maxUploads: 1000 }
  let uploads = 0
  for (; performance.now() < end; uploads++) {
    const version = createVersion()
    const name = parseFileName(`${client}-${end}-${uploads >> 1}`)
    const key = objectKey(caller.userId, version)
    const upload = { ...caller, version, name, objectKey: key, bytes: 4096, leaseMs: 60_000 }
    await ledger.begin({ ...upload, ...limits })
    await setTimeout(PUT_MS * (0.5 + Math.random()))
    const content = { size: 4096, sha256: SHA256, visibility: undefined }
    await ledger.commit({ ...caller, version, ...content, ...limits, garbageDelayMs: 600_000 })
  }
  return uploads
}

function report(name: string, rounds: readonly Round[]): void {
  const rates = rounds.map(({ uploadsPerSecond }) => uploadsPerSecond)
  const cpu = median(rounds.map(({ cpuMsPerUpload }) => cpuMsPerUpload))
  const spread = `${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)}`
  print(`${name}: ${median(rates).toFixed(0)} uploads/s (${spread}), ${cpu.toFixed(3)} ms CPU each`)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
