import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Config, type ObjectStoreConfig, partSizeOf } from './config/config.ts'
import type { DatabaseConfig } from './config/parsers.ts'
import { type AccessTokens, createAccessTokens } from './core/auth/access-tokens.ts'
import { timeoutSignal } from './core/async/deadline.ts'
import { AppError } from './core/errors.ts'
import { createFreeSpace, type FreeSpace } from './core/uploads/free-space.ts'
import { createGrants, type Grants } from './core/quota/grants.ts'
import {
  createFailedAttemptLimiter,
  type FailedAttemptLimiter,
} from './core/auth/failed-attempt-limiter.ts'
import { createJwtUsers, type JwtUsersOptions } from './core/auth/jwt-users.ts'
import type { Ledger } from './core/ledger/ledger.ts'
import type { ObjectStore } from './core/objects/object-store.ts'
import { createReadiness, type Readiness } from './core/readiness.ts'
import { createRebuilder, type Rebuilder } from './core/rebuild/rebuilder.ts'
import { createRepository, type Repository } from './core/files/repository.ts'
import { createSweeper, type Sweeper } from './core/sweep/sweeper.ts'
import { createUploadMemory } from './core/uploads/memory/budget.ts'
import type { UserId } from './core/users/user-id.ts'
import { createUsers, type Users } from './core/users/users.ts'
import { createVerifier, type Verifier } from './core/verify/verifier.ts'
import { backUp } from './database/sqlite/backup.ts'
import type { Database } from './database/database.ts'
import { createFailedAttemptStore } from './database/users/failed-attempts.ts'
import { createInventory } from './database/verify/inventory.ts'
import { createLedger } from './database/ledger/ledger.ts'
import { migrate } from './database/migrate.ts'
import { createRebuildJournal } from './database/rebuild/journal.ts'
import { openSqlite } from './database/sqlite/sqlite.ts'
import { SqliteInstances } from './database/sqlite/instances.ts'
import { createUserStore } from './database/users/user-store.ts'
import { Writer } from './database/sqlite/writer/writer.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'
import { ensureFolder } from './object-store/filesystem/fsync-directory.ts'
import { createFilesystemStore } from './object-store/filesystem/store.ts'
import type { ObjectPlace } from './tracing/traced-ports.ts'
import type { Tracing } from './tracing/tracing.ts'

/** The use cases over opened adapters: all that a listener or a command works with. */
export interface Service {
  readonly users: Users
  readonly accessTokens: AccessTokens
  readonly grants: Grants
  readonly failedAttempts: FailedAttemptLimiter
  readonly ledger: Ledger
  readonly objects: ObjectStore
  readonly repository: Repository
  readonly sweeper: Sweeper
  readonly verifier: Verifier
  readonly rebuilder: Rebuilder
  readonly readiness: Readiness
  /** Copies the embedded database to a file that does not exist; see `database/sqlite/backup.ts`. */
  backup(file: string): Promise<{ readonly bytes: number }>
  readonly metrics: Metrics
  /**
   * To be called before requests are served. Ends the leases of uploads that processes had under way which are gone for
   * certain, which can be told of an embedded database alone, and says how many: they count no more from then on.
   */
  join(): Promise<number>
  close(): Promise<void>
}

/** How long things are kept that may be over, in milliseconds. Tests have them shorter, deployments do not. */
export interface ServiceTimes {
  /** What a process has begun ends this long after it was last renewed: an upload with its reservation, and a sweep. */
  readonly leaseMs: number
  /**
   * Longer than a download takes to open an object that it has found (those that have opened it go on), and than a
   * write that was repeated can still land.
   */
  readonly garbageDelayMs: number
  /** Longer than any request to the object store may take (see `object-store/s3/store.ts`), several times over. */
  readonly retentionMs: number
}

export interface ServiceOptions extends Partial<ServiceTimes> {
  /** Follows what is asked of database and object store. */
  readonly tracing?: Tracing | undefined
  /** Told what went wrong that fails no request. */
  readonly warn?: ((err: unknown, message: string) => void) | undefined
}

const TIMES = { leaseMs: 60_000, retentionMs: 15 * 60_000 }

/** Long enough for an operator to look through what a rebuild took for replaced, and for users to miss it. */
const REBUILT_GARBAGE_DELAY_MS = 30 * 24 * 60 * 60_000

/** Opens database and object store as the settings say, with tables and bucket made where they are missing. */
export async function openService(
  config: Config,
  { tracing, warn, ...times }: ServiceOptions = {},
): Promise<Service> {
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(config.database)
  opened.defer(() => database.close())
  const store = await openObjectStore(config.objectStore, { ...config, warn })
  opened.defer(() => store.close())
  const objects = tracing?.traceObjects(store, placeOf(config)) ?? store
  await migrate(database)
  await objects.prepare(timeoutSignal(PREPARE_TIMEOUT_MS))
  const jwt = config.jwt && (await openJwt(config.jwt))
  const instances = createInstances(config)
  opened.defer(() => instances?.leave())
  const writer = createWriter(config, warn)
  opened.defer(() => writer?.close())
  const kept = opened.move()
  const useCases = createUseCases({
    config,
    database,
    writer,
    objects,
    jwt,
    times: { ...TIMES, ...config, ...times },
    tracing,
  })
  return {
    ...useCases,
    objects,
    join: () => joinInstances({ instances, writer, warn, ledger: useCases.ledger }),
    backup: (file) => backUp(database, file),
    close: () => kept.disposeAsync(),
  }
}

const PREPARE_TIMEOUT_MS = 30_000

/** With the half second for which an answer is kept, a part that hangs is named well within 2 s. */
const READINESS_TIMEOUT_MS = 1_000

interface Parts {
  readonly config: Config
  readonly database: Database
  readonly writer: Writer | undefined
  readonly objects: ObjectStore
  /** Where there is an identity provider. */
  readonly jwt: Omit<JwtUsersOptions, 'users'> | undefined
  readonly times: ServiceTimes
  readonly tracing: Tracing | undefined
}

type Adapters = Omit<Parts, 'times' | 'jwt'>

function createUseCases({ config, database, times, jwt, ...ports }: Parts) {
  const { deviceCapacity, deviceModels } = config
  const { maxFileSize, maxFiles, maxUploads } = config
  const { leaseMs, garbageDelayMs, retentionMs } = times
  const { metrics, memory, readiness, ...metered } = meterPorts({ config, database, ...ports })
  const { ledger, userStore, objects } = metered
  const sweeper = createSweeper({ ledger, objects, retentionMs, garbageDelayMs, leaseMs })
  const jwtUsers = jwt && createJwtUsers({ ...jwt, users: userStore })
  const failedAttempts = createFailedAttemptLimiter({
    counts: metrics.meterPort(createFailedAttemptStore(database)),
  })
  const accessTokens = createAccessTokens({ users: userStore, jwtUsers, failedAttempts })
  const onChange = (userId: UserId): void => accessTokens.forgetUser(userId)
  const limits = {
    memory,
    space: openFreeSpace(config),
    maxFileSize,
    maxFiles,
    maxUploads,
    leaseMs,
    garbageDelayMs,
  }
  return {
    ledger,
    users: createUsers({ users: userStore, ledger, onChange }),
    accessTokens,
    failedAttempts,
    grants: createGrants({ users: userStore, deviceCapacity, deviceModels }),
    repository: metrics.meterRepository(createRepository({ ledger, objects, ...limits })),
    readiness,
    sweeper: metrics.meterSweeper(sweeper),
    metrics,
    verifier: createVerifier({
      inventory: createInventory(database),
      objects,
      garbageDelayMs,
    }),
    rebuilder: createRebuilder({
      journal: createRebuildJournal(database),
      objects,
      garbageDelayMs: REBUILT_GARBAGE_DELAY_MS,
    }),
  }
}

/** What metrics read by themselves is not counted as calls of the service. */
function meterPorts(parts: Adapters) {
  const { config, database, objects } = parts
  const { ledger, userStore } = openBooks(parts)
  const readiness = createReadiness({ ledger, objects, timeoutMs: READINESS_TIMEOUT_MS })
  const memory = createUploadMemory({ budget: config.uploadMemory, partSize: partSizeOf(config) })
  const { connections } = database
  const metrics = createMetrics({ ledger, readiness, memory, connections })
  return {
    metrics,
    readiness,
    memory,
    ledger: metrics.meterPort(ledger),
    userStore: metrics.meterPort(userStore),
    objects: metrics.meterObjectStore(objects),
  }
}

/** The ports on the database, followed where there is someone to do so. */
function openBooks({ config, database, writer, tracing }: Adapters) {
  const ledger = createLedger(database, config)
  const userStore = createUserStore(database)
  const books = {
    ledger: writer?.ledger(ledger) ?? ledger,
    userStore: writer?.users(userStore) ?? userStore,
  }
  if (tracing === undefined) return books
  const system = config.database.kind === 'sqlite' ? 'sqlite' : 'postgresql'
  return {
    ledger: tracing.traceLedger(books.ledger, system),
    userStore: tracing.traceUserStore(books.userStore, system),
  }
}

function placeOf({ objectStore }: Config): ObjectPlace {
  return { bucket: objectStore.kind === 's3' ? objectStore.bucket : undefined }
}

/** Loaded where the settings ask for it alone, as the other two that are (bench/NOTES.md, "Start and idle memory"). */
async function openJwt(jwt: NonNullable<Config['jwt']>): Promise<Parts['jwt']> {
  const { createJwtVerifier } = await import('./jwt/jwt-verifier.ts')
  return { verifier: createJwtVerifier(jwt), createsUsers: jwt.createsUsers }
}

/** For an embedded database alone: a server does its work beside this process anyway. */
function createWriter(
  { database, baseCapacity }: Config,
  warn: ServiceOptions['warn'],
): Writer | undefined {
  if (database.kind !== 'sqlite') return undefined
  return new Writer({ file: database.file, baseCapacity }, (cause) =>
    warn?.(cause, 'makes changes without the thread for them'),
  )
}

/** A server has clients on other machines, of which nothing can be known here. */
function createInstances({ database }: Config): SqliteInstances | undefined {
  return database.kind === 'sqlite' ? new SqliteInstances(database.file) : undefined
}

interface JoinInstances extends Pick<ServiceOptions, 'warn'> {
  readonly instances: SqliteInstances | undefined
  readonly ledger: Ledger
  readonly writer: Writer | undefined
}

async function joinInstances({ instances, ledger, writer, warn }: JoinInstances): Promise<number> {
  const endLeases = () =>
    ledger.endLeases().catch((cause: unknown) => {
      // They end by themselves. A full disk, for one, is no reason not to start: what has to be removed makes room.
      warn?.(cause, 'the leases of uploads that a crash has left were not ended')
      return 0
    })
  const ended = (await instances?.join(endLeases)) ?? 0
  // Each of them will be aborted, which is a write to the disk.
  if (ended > 0) await writer?.start()
  return ended
}

/** Of what this machine keeps itself: a server's disks are not seen from here. */
function openFreeSpace({ database, objectStore, minFreeSpace }: Config): FreeSpace {
  const folders = [
    ...(database.kind === 'sqlite' ? [{ path: dirname(database.file), holdsObjects: false }] : []),
    ...(objectStore.kind === 'file' ? [{ path: objectStore.directory, holdsObjects: true }] : []),
  ]
  const measure = async (folder: string): Promise<number> => {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  }
  return createFreeSpace({ folders, minBytes: minFreeSpace, measure })
}

/** Opens the database of the settings; the folder of an embedded one is made, and then outlives a power cut as what it holds does. */
export async function openDatabase(config: DatabaseConfig): Promise<Database> {
  if (config.kind === 'postgres') {
    const { openPostgres } = await import('./database/postgres/postgres.ts')
    return openPostgres({ url: config.url })
  }
  const { file } = config
  const folder = dirname(file)
  // SQLite synchronises this folder itself. Those above it are only ours to open if they were made here.
  await ensureFolder(folder, folder).catch((cause: unknown) => {
    const detail = `The database has no folder ${folder}. DATA_DIR or DATABASE_URL can name another.`
    throw new AppError('unavailable', detail, { cause })
  })
  return openSqlite({ file })
}

/** Opens the object store of the settings, without asking whether it answers. */
export async function openObjectStore(
  config: ObjectStoreConfig,
  { maxFileSize, warn }: Pick<Config, 'maxFileSize'> & Pick<ServiceOptions, 'warn'>,
): Promise<ObjectStore> {
  if (config.kind === 'file') return createFilesystemStore({ directory: config.directory })
  const { createS3Store } = await import('./object-store/s3/store.ts')
  return createS3Store({ ...config, maxFileSize, warn })
}
