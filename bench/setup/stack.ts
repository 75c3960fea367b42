import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import type { DatabaseConfig } from '../../src/config/parsers.ts'
import { parseUserId, type UserId } from '../../src/core/users/user-id.ts'
import { openService } from '../../src/compose/compose.ts'
import { createFolder } from '../../test/support/servers/local-server.ts'
import { createDatabase, type RunningPostgres } from '../../test/support/servers/postgres.ts'
import { s3Settings } from '../../test/support/service/s3-settings.ts'
import { freshBucket } from '../../test/support/service/test-bucket.ts'
import { type Bucket, createBucket, emptierOf } from './bucket.ts'
import type { Processes } from '../measure/measure.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'
import type { Servers } from './servers.ts'

export const STACK_NAMES = ['sqlite-files', 'sqlite-minio', 'postgres-minio'] as const

export type StackName = (typeof STACK_NAMES)[number]

/** A service on an empty database and an empty object store, and the way past it. */
export interface Stack extends AsyncDisposable {
  readonly name: StackName
  /** The first of `services`. */
  readonly service: ServiceProcess
  readonly services: readonly ServiceProcess[]
  /** The services and the servers behind them. */
  readonly processes: Processes
  /** The object store and the database, where their processes are known. */
  readonly servers: Processes
  /** The `Cookie` header of each user that was asked for. */
  readonly cookies: readonly string[]
  /** The object store without the service, where it has a server. */
  readonly direct: Bucket | undefined
  /** For what lasts only as long as a scenario. */
  readonly folder: string
  /** Where the users' local files are, in the stack that has them. */
  readonly objects: string
  /** Removes all objects, behind the service's back, so that the disk holds one run's at a time. */
  empty(): Promise<void>
}

export interface StackOptions {
  readonly name: StackName
  readonly servers: Servers
  /** One when left out. */
  readonly users?: number
  /** Of the service, on the same database and object store; one when left out. */
  readonly instances?: number
  /** Puts into the database what no request has brought, before the service starts. */
  readonly plant?: (database: DatabaseConfig) => Promise<void>
  readonly profile?: string | undefined
}

/** More than any scenario has. */
const LIMITS = {
  BASE_CAPACITY: '4096TiB',
  MAX_FILE_SIZE: '12GiB',
  MAX_FILES: '100000000',
  MAX_UNFINISHED_UPLOADS: '1000',
}

/** Ends the service, and removes what it had, but for its bucket, which goes with the server. */
export async function openStack(options: StackOptions): Promise<Stack> {
  const { name, servers, instances = 1, profile } = options
  await using opened = new AsyncDisposableStack()
  const folder = await createFolder('bench')
  opened.defer(() => folder.remove())
  const postgres = name === 'postgres-minio' ? await servers.postgres() : undefined
  const minio = name === 'sqlite-files' ? undefined : await servers.minio()
  const store = minio && freshBucket(minio.address)
  const environment = {
    ...LIMITS,
    DATA_DIR: folder.path,
    ...(postgres && (await databaseSettings(postgres, opened))),
    ...(store && s3Settings(store)),
  }
  const cookies = await prepare(environment, options)
  const start = () => startServiceProcess({ environment, folder: folder.path, profile }, opened)
  const service = await start()
  const services = [service]
  while (services.length < instances) services.push(await start())
  const objects = join(folder.path, 'objects', 'users')
  const direct = minio && (await createBucket(minio, opened))
  const emptyStored = store ? emptierOf(store, opened) : () => removeFiles(objects)
  const behind = {
    ...(minio?.pid !== undefined && { object_store: [minio.pid] }),
    ...(postgres?.pid !== undefined && { database: [postgres.pid] }),
  }
  const kept = opened.move()
  return {
    name,
    service,
    services,
    cookies,
    direct,
    folder: folder.path,
    objects,
    processes: { service: services.map(({ pid }) => pid), ...behind },
    servers: behind,
    async empty() {
      await direct?.empty()
      await emptyStored()
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function databaseSettings({ url }: RunningPostgres, opened: AsyncDisposableStack) {
  const own = await createDatabase(url)
  opened.defer(() => own.drop())
  return { DATABASE_URL: own.url }
}

function userIdOf(at: number): UserId {
  return parseUserId(`user-${at}`)
}

/** The user of the first of a stack's cookies. */
export const FIRST_USER = userIdOf(0)

/** Makes tables, bucket and users, and returns the users' cookies. */
async function prepare(
  environment: Readonly<Record<string, string>>,
  { users = 1, plant }: StackOptions,
): Promise<readonly string[]> {
  await using opened = new AsyncDisposableStack()
  const config = readConfig(environment)
  const service = await openService(config)
  opened.defer(() => service.close())
  const cookies: string[] = []
  for (let at = 0; at < users; at += 1) {
    const userId = userIdOf(at)
    await service.users.create(userId)
    const { secret } = await service.accessTokens.issue({
      userId,
      label: '',
      expiresInSeconds: undefined,
    })
    cookies.push(`access_token=${secret}`)
  }
  await plant?.(config.database)
  return cookies
}

async function removeFiles(folder: string): Promise<void> {
  for (const user of await readdir(folder).catch(() => [])) {
    for (const file of await readdir(join(folder, user))) await rm(join(folder, user, file))
  }
}
