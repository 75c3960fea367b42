import {
  databaseWarnings,
  measureFreeDisk,
  openDatabase,
  openFreeSpace,
  openJwt,
  openLedgerSpace,
  openObjectStore,
  openPackMeasure,
  openRedirect,
} from './adapters.ts'
import { readVersion } from '../build-info.ts'
import { type Config, partSizeOf } from '../config/config.ts'
import { createAccessTokens } from '../core/auth/access-tokens.ts'
import type { BackupHooks } from '../core/backup/backup-schedule.ts'
import { createFeed, waking } from '../core/changes/feed.ts'
import { createAuditTrail } from '../core/audit/audit-trail.ts'
import { timeoutSignal } from '../core/async/deadline.ts'
import type { FreeSpace } from '../core/uploads/free-space.ts'
import type { LedgerSpace } from '../core/uploads/ledger-space.ts'
import { createGrantPeriods } from '../core/quota/grant-periods.ts'
import { createGrants } from '../core/quota/grants.ts'
import type { AccountLimits } from '../core/quota/shares.ts'
import {
  createFailedAttemptLimiter,
  type FailedAttemptPolicy,
} from '../core/auth/failed-attempt-limiter.ts'
import { createJwtUsers, type IdentityProvider } from '../core/auth/jwt-users.ts'
import { LEASE_MS } from '../core/uploads/upload-ledger.ts'
import type { ObjectStore } from '../core/objects/object-store.ts'
import { adoptStore } from '../core/objects/recognize-store.ts'
import { createHistory } from '../core/history/history.ts'
import { createLinks } from '../core/links/links.ts'
import { createReadiness } from '../core/readiness.ts'
import { createRebuilder } from '../core/rebuild/rebuilder.ts'
import { createArchives } from '../core/files/archive.ts'
import { createInstance } from '../core/overview/instance.ts'
import { createOperators } from '../core/operators/operators.ts'
import { createOverview } from '../core/overview/overview.ts'
import { createRepository } from '../core/repository.ts'
import type { SteadyClock } from '../core/clock/safe-clock.ts'
import { createSweeper } from '../core/sweep/sweeper.ts'
import { createResumableUploads } from '../core/resumable/resumable-uploads.ts'
import { UploadMemory } from '../core/memory/upload-memory.ts'
import { createUsers } from '../core/users/users.ts'
import { createVerifier } from '../core/verify/verifier.ts'
import type { Database } from '../database/database.ts'
import { createWebhookDelivery, type WebhookHooks } from '../core/webhooks/delivery.ts'
import { createParkedWebhooks } from '../core/webhooks/parked-webhooks.ts'
import type { LedgerOptions } from '../database/operations/session.ts'
import type { LedgerTimes, OwnTimes } from '../database/ledger/times.ts'
import { createWebhookSender } from '../webhooks/sender.ts'
import { createStoreRecord } from '../database/objects/store-record.ts'
import { createInventory } from '../database/verify/inventory.ts'
import { migrate } from '../database/migrate.ts'
import { createRebuildLedger } from '../database/rebuild/rebuild-ledger.ts'
import type { Writer } from '../database/sqlite/writer/writer.ts'
import type { UserStores } from '../database/users/user-store.ts'
import { createUploadHooks, meterAppends } from '../metrics/appends.ts'
import { meterBackups } from '../metrics/backups.ts'
import { createCallMeters, meterHistory, meterRepository } from '../metrics/call-meters.ts'
import { createInstruments } from '../metrics/instruments.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { createClockHooks, meterSweeper } from '../metrics/sweeps.ts'
import { meterWebhooks } from '../metrics/webhooks.ts'
import { createScheduledBackups } from './backup/scheduled-backups.ts'
import { endLeases, openEmbedded } from './embedded.ts'
import { openKnownStore, PREPARE_TIMEOUT_MS } from './known-store.ts'
import { layerPorts, type Ports } from './layers.ts'
import { RESERVE_IN_USE, startAnywhere, startIn } from './reserve.ts'
import { openSafeClock, openSteadyClock, warningOfJumps } from './clock.ts'
import type { TracedPlaces } from '../tracing/port-traces.ts'
import type { Tracing } from '../tracing/tracing.ts'

export type Service = Awaited<ReturnType<typeof openService>>

export interface Overrides extends OwnTimes {
  readonly tracing?: Tracing | undefined
  readonly warn?: ((err: unknown, message: string) => void) | undefined
  /** Replace the configured adapters; the caller closes them. */
  readonly database?: Database
  readonly objects?: ObjectStore
  /** Starts the writer thread now, not at the first upload. `onDeath` receives the cause of its end. */
  readonly thread?: { readonly onDeath: (cause: unknown) => void }
  readonly aroundPorts?: (ports: Ports) => Ports
  readonly jwt?: IdentityProvider | undefined
  readonly space?: FreeSpace | undefined
  readonly ledgerSpace?: LedgerSpace | undefined
  /** How often the caller is verified again while a body arrives. */
  readonly reverifyMs?: number | undefined
  readonly tokenCacheMs?: number
  /** `MAX_ARCHIVED_FILES` by default. */
  readonly maxArchivedFiles?: number | undefined
  /** The clock of the limits on attempts at the passwords of links, in milliseconds. */
  readonly passwordClock?: (() => number) | undefined
  readonly failedAttemptPolicy?: FailedAttemptPolicy
  /** Opens also on an object store that the database does not know, which it must not write to. */
  readonly acceptsAnyStore?: boolean | undefined
  /** That of the machine by default; none for a given `database`, whose clock a test may move. */
  readonly steadyClock?: SteadyClock | undefined
}

/**
 * Composition root of the server, CLI, tests and benchmarks. Creates missing tables, and a missing bucket unless the
 * database knows an object store.
 */
export async function openService(config: Config, overrides: Overrides = {}) {
  const { warn, thread } = overrides
  await using opened = new AsyncDisposableStack()
  const onReserveUse = (): void => warn?.(undefined, RESERVE_IN_USE)
  const start = overrides.database ? startAnywhere : startIn(config, onReserveUse)
  const database = overrides.database ?? (await start(() => openDatabase(config.database)))
  if (overrides.database === undefined) opened.defer(() => database.close())
  const { objectStore, maxFileSize } = config
  const found = overrides.objects ?? (await openObjectStore(objectStore, { maxFileSize, warn }))
  if (overrides.objects === undefined) opened.defer(() => found.close())
  await start(() => migrate(database))
  for (const warning of await databaseWarnings(config.database, database)) {
    warn?.(undefined, warning)
  }
  const record = createStoreRecord(database)
  const { acceptsAnyStore = false } = overrides
  const known = { config: objectStore, record, store: found, warn, acceptsAny: acceptsAnyStore }
  const store = await start(() => openKnownStore(known))
  const jwt = overrides.jwt ?? (config.jwt && (await openJwt(config.jwt, warn)))
  const ledgerOptions = ledgerOptionsOf(config, overrides)
  const embedded = overrides.database
    ? undefined
    : openEmbedded(config.database, { ledgerOptions, onDeath: thread?.onDeath })
  opened.defer(() => embedded?.instances.leave())
  opened.defer(() => embedded?.writer.close())
  if (thread !== undefined) embedded?.writer.start()
  const { writer } = embedded ?? {}
  const {
    ledgerSpace = overrides.database ? undefined : openLedgerSpace(config, database, onReserveUse),
  } = overrides
  const version = await readVersion()
  const backups = createScheduledBackups(config, version)
  const parts = { database, store, writer, ledgerOptions, jwt, ledgerSpace, backups, overrides }
  const useCases = createUseCases(config, parts)
  const { ledger } = useCases
  const redirect = await openRedirect(objectStore)
  const instance = createInstance({
    version,
    settings: config.settings,
    measureFreeDisk: () => measureFreeDisk(config),
    findLastBackup: async () => backups?.findLast(),
  })
  const kept = opened.move()
  return {
    ...useCases,
    instance,
    /** `undefined`: the service sends all contents itself. */
    redirect,
    /** Call before serving. Ends upload leases of dead processes (embedded database only) and returns how many. */
    join: async () =>
      embedded === undefined ? 0 : start(() => endLeases(embedded, { ledger, warn })),
    /** Makes the reserve of an embedded database whole if the disk has room for it. */
    keepReserve: async () => void (await ledgerSpace?.measureReserve()),
    /** Makes the object store the one that the database knows, and resolves to its identity. */
    adoptStore: () => {
      const signal = timeoutSignal(PREPARE_TIMEOUT_MS)
      return adoptStore({ record, store: found, signal })
    },
    close: () => kept.disposeAsync(),
  }
}

/** With the half second of caching, a hanging dependency is reported well within 2 s. */
const READINESS_TIMEOUT_MS = 1_000

interface Opened {
  readonly database: Database
  readonly store: ObjectStore
  readonly writer: Writer | undefined
  readonly ledgerOptions: LedgerOptions
  readonly jwt: IdentityProvider | undefined
  readonly ledgerSpace: LedgerSpace | undefined
  readonly backups: ReturnType<typeof createScheduledBackups>
  readonly overrides: Overrides
}

function createUseCases(config: Config, opened: Opened) {
  const { database, ledgerOptions, ledgerSpace, backups, overrides } = opened
  const { maxFileSize } = config
  const { leaseMs = LEASE_MS, reverifyMs } = overrides
  const { ports, unmetered, instruments, readiness, memory } = createPorts(config, opened)
  const { users, objects } = ports
  const feed = createFeed({ ledger: ports.ledger, reverifyMs })
  const ledger = waking(ports.ledger, (userId) => feed.wake(userId))
  const { accessTokens, failedAttempts } = createAuth(config, users, opened)
  const space = overrides.space ?? openFreeSpace(config, database, ledgerSpace)
  const repository = createRepository({
    ledger,
    objects,
    memory,
    space,
    maxFileSize,
    leaseMs,
    reverifyMs,
  })
  const history = createHistory({ ledger, objects })
  const { onStored, onReread, onLost, onAppended } = createUploadHooks(instruments)
  const uploads = meterAppends(
    createResumableUploads({
      ledger,
      objects,
      memory,
      space,
      maxFileSize,
      reverifyMs,
      onStored,
      onReread,
      onLost,
      onAppended,
    }),
    instruments,
  )
  const administeredUsers = createUsers({
    users,
    ledger,
    onChange: (userId) => accessTokens.forgetUser(userId),
  })
  const { deviceCapacity, deviceModels, deviceShare } = config
  const { steadyClock = overrides.database ? undefined : openSteadyClock() } = overrides
  const clockHooks = warningOfJumps(createClockHooks(instruments), overrides.warn)
  const sweeper = createSweeper({
    safeClock:
      steadyClock && openSafeClock(config.database, { ledger, steadyClock, leaseMs, clockHooks }),
    ledger,
    objects,
    leaseMs,
    eventLifetimeMs: config.eventLifetimeMs,
  })
  const { webhooks } = config
  const sender = webhooks && createWebhookSender(webhooks)
  const inventory = createInventory(database, ledgerOptions)
  return {
    ledger,
    objects,
    userStore: users,
    users: administeredUsers,
    accessTokens,
    links: createLinks({
      ledger,
      maxLifeMs: config.maxLinkLifeMs,
      passwordClock: overrides.passwordClock,
      dropLimits: {
        maxBytes: config.dropMaxBytes || undefined,
        maxFiles: config.dropMaxFiles || undefined,
      },
    }),
    failedAttempts,
    feed,
    grantPeriods: createGrantPeriods(ledger),
    grants: createGrants({
      users,
      deviceCapacity,
      deviceModels,
      deviceShare,
      onRemove: (userId) => accessTokens.forgetUser(userId),
    }),
    repository: meterRepository(repository, instruments),
    history: meterHistory(history, instruments),
    archives: createArchives({ ledger, objects, maxFiles: overrides.maxArchivedFiles }),
    uploads,
    overview: createOverview({ ledger, hasWebhooks: webhooks !== undefined, leaseMs }),
    parkedWebhooks: createParkedWebhooks(ledger, sender),
    auditTrail: createAuditTrail(ledger),
    operators: createOperators({ ledger, failedAttempts }),
    /** `undefined` unless webhooks are configured. */
    webhookDelivery:
      webhooks &&
      sender &&
      ((hooks: WebhookHooks) =>
        createWebhookDelivery({
          ledger,
          sender,
          events: webhooks.events,
          hooks: meterWebhooks(hooks, instruments),
        })),
    /** `undefined` without `BACKUP_DIR`. */
    makeBackups:
      backups &&
      ((hooks: BackupHooks, signal: AbortSignal) =>
        backups.run(meterBackups(hooks, instruments), signal)),
    readiness,
    sweeper: meterSweeper(sweeper, instruments),
    metrics: createMetrics({
      instruments,
      ledger: unmetered.ledger,
      readiness,
      uploads,
      memory,
      connections: database.connections,
      measurePack: openPackMeasure(config),
      measureReserve: ledgerSpace && (() => ledgerSpace.measureReserve()),
      findBackup: backups?.findLast,
    }),
    verifier: createVerifier({ inventory, ledger, objects }),
    rebuilder: createRebuilder({ ledger: createRebuildLedger(database), objects }),
  }
}

function createAuth(config: Config, users: UserStores, { jwt, overrides }: Opened) {
  const failedAttempts = createFailedAttemptLimiter({ policy: overrides.failedAttemptPolicy })
  const jwtUsers =
    jwt && createJwtUsers({ users, verifier: jwt.verifier, createsUsers: jwt.createsUsers })
  const cacheMs = overrides.tokenCacheMs
  const maxLifeMs = config.maxTokenLifeMs
  const accessTokens = createAccessTokens({ users, jwtUsers, failedAttempts, maxLifeMs, cacheMs })
  return { accessTokens, failedAttempts }
}

function createPorts(config: Config, opened: Opened) {
  const { database, store, writer, ledgerOptions, overrides, ledgerSpace, backups } = opened
  const { uploadMemory, maxUploads, maxUnfinished } = config
  const instruments = createInstruments({
    hasPool: database.connections !== undefined,
    hasPack: config.objectStore.kind === 'file',
    hasWebhooks: config.webhooks !== undefined,
    hasReserve: ledgerSpace !== undefined,
    backupEveryMs: backups?.everyMs,
  })
  const meter = createCallMeters(instruments)
  const trace = overrides.tracing?.tracePorts(tracedPlaces(config))
  const layered = layerPorts({
    database,
    objects: store,
    ledgerOptions,
    writer,
    trace,
    meter,
    space: ledgerSpace,
  })
  const { ledger, objects } = layered.unmetered
  const readiness = createReadiness({
    checkDatabase: () => ledger.check(),
    checkObjectStore: (signal) => objects.check(signal),
    timeoutMs: READINESS_TIMEOUT_MS,
  })
  const memory = new UploadMemory({
    budget: uploadMemory,
    partSize: partSizeOf(config),
    maxPerUser: maxUploads + maxUnfinished,
  })
  const ports = overrides.aroundPorts?.(layered) ?? layered
  return { ports, unmetered: layered.unmetered, instruments, readiness, memory }
}

function tracedPlaces({ database, objectStore }: Config): TracedPlaces {
  return {
    system: database.kind === 'sqlite' ? 'sqlite' : 'postgresql',
    bucket: objectStore.kind === 's3' ? objectStore.bucket : undefined,
  }
}

/** None is left to its default, which is for tests and tools. */
interface DeployedOptions extends Required<LedgerOptions> {
  readonly limits: AccountLimits
  readonly times: OwnTimes & Pick<LedgerTimes, 'garbageDelayMs' | 'uploadLifetimeMs'>
}

function ledgerOptionsOf(config: Config, overrides: Overrides): DeployedOptions {
  const { baseCapacity, webhooks, historyLifetimeMs, historyShare } = config
  const { maxFiles, maxUploads, maxUnfinished } = config
  const { leaseMs, uploadLifetimeMs = config.lifetimeMs, retentionMs, purgeDelayMs } = overrides
  const { garbageDelayMs = config.garbageDelayMs } = overrides
  return {
    baseCapacity,
    queuesWebhooks: webhooks !== undefined,
    historyLifetimeMs,
    historyShare,
    limits: { maxFiles, maxUploads, maxUnfinished },
    times: { leaseMs, uploadLifetimeMs, garbageDelayMs, retentionMs, purgeDelayMs },
  }
}
