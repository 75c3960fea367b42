import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type Caller, callerOf } from '../../src/core/users/caller.ts'
import { parseFileName } from '../../src/core/files/file-name.ts'
import type { Ledger } from '../../src/database/ledger.ts'
import { objectKey, createVersion } from '../../src/core/objects/object-key.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import type { Database } from '../../src/database/database.ts'
import type * as Ledgers from '../../src/database/ledger.ts'
import type * as Migrations from '../../src/database/migrate.ts'
import type * as Postgres from '../../src/database/postgres/postgres.ts'
import type * as Sqlite from '../../src/database/sqlite/sqlite.ts'
import type * as UserStores from '../../src/database/users/user-store.ts'
import { spreadOf } from '../measure/statistics.ts'
import { createProgram } from '../program.ts'
import { type Engine, fileOf, startEngines } from '../setup/engines.ts'

interface Asked {
  /** The `src` of each checkout to measure. */
  readonly source: readonly string[]
  /** What the object store takes for 4 KiB on average, in milliseconds. */
  readonly put: number
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
}

const DEFAULTS: Asked = {
  source: [join(import.meta.dirname, '../../src')],
  put: 3,
  connections: 16,
  seconds: 4,
  rounds: 3,
}

const USERS = [1, 8]
const SHA256 = 'a'.repeat(64)

/**
 * Uploads as the ledger alone sees them, begin and commit with a pause between them, on SQLite (without the thread that
 * the service has for it) and on PostgreSQL: medians of interleaved rounds, for one user and for many.
 */
export const ledger = createProgram({
  title: 'uploads in the ledger alone; --source compares the src of another checkout',
  options: DEFAULTS,
  run: async (asked) => {
    await using opened = new AsyncDisposableStack()
    for (const engine of await startEngines(opened)) {
      const subjects: Subject[] = []
      for (const source of asked.source) {
        for (const users of USERS) subjects.push(await prepare({ engine, source, users, opened }))
      }
      for (let round = 0; round < asked.rounds; round++) {
        for (const subject of subjects) subject.rounds.push(await measure(subject, asked))
      }
      for (const { name, rounds } of subjects) report(`${engine.name} ${name}`, rounds)
    }
  },
})

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

interface Preparation {
  readonly engine: Engine
  readonly source: string
  readonly users: number
  readonly opened: AsyncDisposableStack
}

async function prepare({ engine, source, users: count, opened }: Preparation): Promise<Subject> {
  const { createLedger } = await load<typeof Ledgers>(source, 'ledger')
  const { migrate } = await load<typeof Migrations>(source, 'migrate')
  const { createUserStore } = await load<typeof UserStores>(source, 'users/user-store')
  const database = await open(source, await engine.createDatabase())
  opened.defer(() => database.close())
  await migrate(database)
  const store = createUserStore(database, { baseCapacity: 0 })
  const users = Array.from({ length: count }, (_, at) => parseUserId(`user-${at}`))
  const callers: Caller[] = []
  for (const userId of users) callers.push(callerOf((await store.createUser(userId)).user))
  const ledger = createLedger(database, { baseCapacity: 2 ** 40 })
  return { name: `${source} users=${users.length}`, ledger, users: callers, rounds: [] }
}

async function open(source: string, url: string): Promise<Database> {
  const file = fileOf(url)
  if (file === undefined) {
    const { openPostgres } = await load<typeof Postgres>(source, 'postgres/postgres')
    return openPostgres({ url })
  }
  const { openSqlite } = await load<typeof Sqlite>(source, 'sqlite/sqlite')
  return openSqlite({ file })
}

async function load<T>(source: string, module: string): Promise<T> {
  return (await import(pathToFileURL(resolve(source, `database/${module}.ts`)).href)) as T
}

async function measure(subject: Subject, asked: Asked): Promise<Round> {
  const [cpu, started] = [process.cpuUsage(), performance.now()]
  const clients = Array.from({ length: asked.connections }, (_, at) =>
    uploadUntil(subject, { client: at, end: started + asked.seconds * 1000, putMs: asked.put }),
  )
  const counts = await Promise.all(clients)
  const uploads = counts.reduce((sum, count) => sum + count, 0)
  const { user, system } = process.cpuUsage(cpu)
  return {
    uploadsPerSecond: uploads / ((performance.now() - started) / 1000),
    cpuMsPerUpload: (user + system) / 1000 / uploads,
  }
}

interface Client {
  readonly client: number
  readonly end: number
  readonly putMs: number
}

/** Every second upload is one of a new name, the other replaces it. */
async function uploadUntil(
  { ledger, users }: Subject,
  { client, end, putMs }: Client,
): Promise<number> {
  const caller = users[client % users.length]
  if (caller === undefined) throw new Error('There is no user')
  let uploads = 0
  for (; performance.now() < end; uploads++) {
    const version = createVersion()
    const name = parseFileName(`${client}-${end}-${uploads >> 1}`)
    const key = objectKey(caller.userId, version)
    const upload = { ...caller, version, name, objectKey: key, bytes: 4096 }
    await ledger.begin(upload)
    await setTimeout(putMs * (0.5 + Math.random()))
    const content = { size: 4096, sha256: SHA256, crc32: 0, visibility: undefined }
    await ledger.commit({ ...caller, version, ...content })
  }
  return uploads
}

function report(name: string, rounds: readonly Round[]): void {
  const rates = spreadOf(rounds.map(({ uploadsPerSecond }) => uploadsPerSecond))
  const cpu = spreadOf(rounds.map(({ cpuMsPerUpload }) => cpuMsPerUpload))
  if (rates === undefined || cpu === undefined) return
  const spread = `${rates.least.toFixed(0)} to ${rates.most.toFixed(0)}`
  const figures = `${rates.median.toFixed(0)} uploads/s (${spread}), ${cpu.median.toFixed(3)} ms CPU each`
  console.log(`${name}: ${figures}`)
}
