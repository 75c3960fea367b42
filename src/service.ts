import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config, ObjectStoreConfig } from './config.ts'
import { type AccessTokens, createAccessTokens } from './core/access-tokens.ts'
import { createGrants, type Grants } from './core/grants.ts'
import { createJwtUsers, type JwtUsers } from './core/jwt-users.ts'
import type { Ledger } from './core/ledger.ts'
import type { ObjectStore } from './core/object-store.ts'
import { createReadiness, type Readiness } from './core/readiness.ts'
import { createRepository, type Repository } from './core/repository.ts'
import { createSweeper, type Sweeper } from './core/sweeper.ts'
import type { UserId } from './core/user-id.ts'
import type { UserStore } from './core/user-store.ts'
import { createUsers, type Users } from './core/users.ts'
import { createVerifier, type Verifier } from './core/verify.ts'
import type { Database } from './database/database.ts'
import { createInventory } from './database/inventory.ts'
import { createLedger } from './database/ledger.ts'
import { migrate } from './database/migrate.ts'
import { openPostgres } from './database/postgres.ts'
import { openSqlite } from './database/sqlite.ts'
import { createUserStore } from './database/user-store.ts'
import { createJwtVerifier } from './jwt/jwt-verifier.ts'
import { createFilesystemStore } from './object-store/filesystem.ts'
import { createS3Store } from './object-store/s3.ts'

/** The use cases over opened adapters: all that a listener or a command works with. */
export interface Service {
  readonly users: Users
  readonly accessTokens: AccessTokens
  readonly grants: Grants
  readonly ledger: Ledger
  readonly objects: ObjectStore
  readonly repository: Repository
  readonly sweeper: Sweeper
  readonly verifier: Verifier
  readonly readiness: Readiness
  close(): Promise<void>
}

/** How long things are kept that may be over, in milliseconds. Tests have them shorter, deployments do not. */
export interface ServiceTimes {
  /** A reservation without an owner ends this long after its last renewal; the next sweep releases it. */
  readonly leaseMs: number
  /**
   * Longer than a download takes to open an object that it has found (those that have opened it go on), and than a
   * write that was repeated can still land.
   */
  readonly garbageDelayMs: number
  /** Longer than any request to the object store may take (see `object-store/s3.ts`), several times over. */
  readonly retentionMs: number
}

const TIMES: ServiceTimes = {
  leaseMs: 60_000,
  garbageDelayMs: 10 * 60_000,
  retentionMs: 15 * 60_000,
}

/** Opens database and object store as the settings say, with tables and bucket made where they are missing. */
export async function openService(config: Config, times = TIMES): Promise<Service> {
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(config.databaseUrl)
  opened.defer(() => database.close())
  const objects = openObjectStore(config.objectStore, config.maxFileSize)
  opened.defer(() => objects.close())
  await migrate(database)
  await objects.prepare(AbortSignal.timeout(PREPARE_TIMEOUT_MS))
  const kept = opened.move()
  const close = () => kept.disposeAsync()
  return { ...createUseCases({ config, database, objects, times }), objects, close }
}

const PREPARE_TIMEOUT_MS = 30_000

/** Shorter than the patience of probes. */
const READINESS_TIMEOUT_MS = 2_000

interface Parts {
  readonly config: Config
  readonly database: Database
  readonly objects: ObjectStore
  readonly times: ServiceTimes
}

function createUseCases({ config, database, objects, times }: Parts) {
  const { baseCapacity, deviceCapacity, deviceModels, maxFileSize, maxFiles } = config
  const ledger = createLedger(database, { baseCapacity })
  const userStore = createUserStore(database)
  const jwtUsers = openJwtUsers(userStore, config.jwt)
  const accessTokens = createAccessTokens({ users: userStore, jwtUsers })
  const onChange = (userId: UserId): void => accessTokens.forgetUser(userId)
  const { leaseMs, garbageDelayMs, retentionMs } = times
  const limits = { maxFileSize, maxFiles, leaseMs, garbageDelayMs }
  return {
    ledger,
    users: createUsers({ users: userStore, ledger, onChange }),
    accessTokens,
    grants: createGrants({ users: userStore, deviceCapacity, deviceModels }),
    repository: createRepository({ ledger, objects, ...limits }),
    readiness: createReadiness({ ledger, objects, timeoutMs: READINESS_TIMEOUT_MS }),
    sweeper: createSweeper({ ledger, objects, retentionMs }),
    verifier: createVerifier({
      inventory: createInventory(database),
      objects,
      garbageDelayMs,
    }),
  }
}

function openJwtUsers(users: UserStore, jwt: Config['jwt']): JwtUsers | undefined {
  if (jwt === undefined) return undefined
  const { createsUsers } = jwt
  return createJwtUsers({ users, verifier: createJwtVerifier(jwt), createsUsers })
}

/** Opens the database of a URL; the folder of an embedded one is made. */
export async function openDatabase(url: string): Promise<Database> {
  if (!url.startsWith('sqlite:')) return openPostgres({ url })
  const file = url.slice('sqlite:'.length)
  await mkdir(dirname(file), { recursive: true })
  return openSqlite({ file })
}

/** Opens the object store of the settings, without asking whether it answers. */
export function openObjectStore(config: ObjectStoreConfig, maxFileSize: number): ObjectStore {
  switch (config.kind) {
    case 'file':
      return createFilesystemStore({ directory: config.directory })
    case 's3':
      return createS3Store({ ...config, maxFileSize })
  }
}
