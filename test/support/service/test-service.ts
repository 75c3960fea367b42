import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { openService, type Overrides, type Service } from '../../../src/compose/compose.ts'
import { closeIdleFromNowOn } from '../../../src/compose/stop.ts'
import { type Config, readConfig } from '../../../src/config/config.ts'
import type { AccessTokens } from '../../../src/core/auth/access-tokens.ts'
import {
  FAILED_ATTEMPT_POLICY,
  type FailedAttemptLimiter,
  type FailedAttemptPolicy,
} from '../../../src/core/auth/failed-attempt-limiter.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import type { SweepReport } from '../../../src/core/sweep/sweeper.ts'
import type { ResumableUploads } from '../../../src/core/resumable/resumable-uploads.ts'
import { parseUserId, type UserId } from '../../../src/core/users/user-id.ts'
import type { UserStores } from '../../../src/database/users/user-store.ts'
import type { Database } from '../../../src/database/database.ts'
import type { PageFile, WebPage } from '../../../src/http/pages/static-assets.ts'
import { Connections } from '../../../src/http/server/connections.ts'
import { buildListeners, type ListenersOptions } from '../../../src/serve.ts'
import { type Conformance, holdToDocument } from '../../openapi/hold-to-document.ts'
import { failOnDeath } from '../runner/fail-on-death.ts'
import { PortCalls } from './port-calls.ts'
import { createWatchedLogger, keepOutOfLogs } from '../runner/secret-watch.ts'

/** What a service in a test stands on, in place of what settings name. Its owner closes it. */
export interface TestAdapters {
  readonly database: Database
  readonly objects: ObjectStore
}

type Limits = Pick<
  Config,
  | 'maxFileSize'
  | 'maxFiles'
  | 'maxUploads'
  | 'maxUnfinished'
  | 'maxDownloadsPerUser'
  | 'maxDownloads'
  | 'trustedProxies'
  | 'allowedOrigins'
  | 'basePath'
  | 'publicUrl'
  | 'baseCapacity'
  | 'deviceCapacity'
  | 'deviceModels'
  | 'webhooks'
  | 'historyLifetimeMs'
  | 'maxLinkLifeMs'
  | 'maxTokenLifeMs'
  | 'dropMaxBytes'
  | 'dropMaxFiles'
>

export interface TestServiceOptions
  extends
    Partial<Limits>,
    Pick<
      Overrides,
      | 'jwt'
      | 'leaseMs'
      | 'retentionMs'
      | 'reverifyMs'
      | 'space'
      | 'ledgerSpace'
      | 'maxArchivedFiles'
      | 'passwordClock'
    >,
    NonNullable<ListenersOptions['timeouts']> {
  /** How often an address may be wrong about tokens, and what then; as often as it likes when left out. */
  readonly failedAttemptPolicy?: FailedAttemptPolicy
  /** The user's page, with its session; neither when left out. */
  readonly page?: WebPage
  /** What browsers show for a link; JSON when left out. */
  readonly linkPage?: PageFile | undefined
  /** The operator's page, with its session; neither when left out. */
  readonly operatorPage?: WebPage
  /** The pages at `/docs`; none when left out. */
  readonly docs?: PageFile | undefined
  readonly adminDocs?: PageFile | undefined
  /**
   * How long an answer about a token is kept; 0 when left out, so that what a test changes in the store counts at once.
   */
  readonly tokenCacheMs?: number
  /** Watched for secrets when left out. */
  readonly logger?: FastifyBaseLogger
  /** Aborts what is still running, as the end of the grace period does. */
  readonly shutdown?: AbortSignal
  /** Ends waiting requests, as the begin of a shutdown does. */
  readonly stopping?: AbortSignal
  /** Starts the admin listener too, with this token. */
  readonly adminToken?: string
  /** Records the calls of ports, where another instance has a part in them. */
  readonly calls?: PortCalls
}

export interface TestUser {
  readonly userId: UserId
  /** The `Cookie` header of the user's requests. */
  readonly cookie: string
}

/** The service on a loopback port, and what a test needs to look behind it. */
export interface TestService {
  readonly port: number
  readonly url: string
  /** 0 without an admin listener. */
  readonly adminPort: number
  readonly users: UserStores
  readonly accessTokens: AccessTokens
  readonly failedAttempts: FailedAttemptLimiter
  readonly ledger: Ledger
  readonly objects: ObjectStore
  /** The resumable ones. */
  readonly uploads: ResumableUploads
  /** Makes a user of exactly that capacity in bytes, with an access token. */
  createUser(capacity: number): Promise<TestUser>
  setCapacity(user: TestUser, capacity: number): Promise<void>
  sweep(): Promise<SweepReport>
  /** The keys of all objects of a user. */
  storedKeys(user: TestUser): Promise<string[]>
  /** Of its ports, and of those of the other instance where there are two. */
  readonly calls: PortCalls
  stop(): Promise<void>
}

/** The settings of tests where they name none. */
const SETTINGS = {
  PORT: '0',
  BASE_CAPACITY: '0',
  DEVICE_CAPACITY: '0',
  MAX_FILE_SIZE: '64MiB',
  MAX_FILES: '1000',
  MAX_UPLOADS: '1000',
  MAX_DOWNLOADS_PER_USER: '1000',
  UPLOAD_MEMORY: '1TiB',
  MIN_FREE_SPACE: '0',
  HISTORY_LIFETIME: '0',
}

/**
 * Starts the real service over the given adapters, or over those that settings name. Its end fails when it has given an
 * answer that its OpenAPI document does not describe. There is no history, and garbage has no grace period, so that one
 * sweep shows what is left for good.
 */
export async function startTestService(
  on: TestAdapters | { readonly environment: Readonly<Record<string, string>> },
  options: TestServiceOptions = {},
): Promise<TestService> {
  const { adminToken, calls = new PortCalls(), logger = createWatchedLogger() } = options
  if (adminToken !== undefined) keepOutOfLogs(adminToken)
  await using opened = new AsyncDisposableStack()
  const { environment, adapters } =
    'environment' in on ? { ...on, adapters: {} } : { environment: {}, adapters: on }
  const config = configOf(environment, options)
  const overrides = { ...adapters, ...overridesOf(options, calls) }
  const service = await openService(config, overrides)
  opened.defer(() => service.close())
  const { idleTimeoutMs = 10_000, lingerMs, headTimeoutMs } = options
  const connections = new Connections()
  const listeners = await buildListeners({
    config,
    service,
    logger,
    connections,
    signals: {
      stopping: options.stopping ?? new AbortController().signal,
      shutdown: options.shutdown ?? new AbortController().signal,
    },
    timeouts: { idleTimeoutMs, lingerMs, headTimeoutMs },
    pages: {
      user: options.page,
      link: options.linkPage,
      operator: options.operatorPage,
      docs: { public: options.docs, admin: options.adminDocs },
    },
  })
  const conformance: Conformance[] = []
  const ports: number[] = []
  for (const [at, { app }] of listeners.entries()) {
    opened.defer(() => app.close())
    const { basePath } = config
    const headers = { authorization: `Bearer ${adminToken}` }
    conformance.push(await holdToDocument(at === 0 ? { app, basePath } : { app, headers }))
    await app.listen({ host: '127.0.0.1', port: 0 })
    ports.push((app.server.address() as AddressInfo).port)
  }
  const [port = 0, adminPort = 0] = ports
  const kept = opened.move()
  const stop = async (): Promise<void> => {
    using _ = closeIdleFromNowOn(connections)
    await kept.disposeAsync()
    for (const listener of conformance) listener.assertConforms()
  }
  const url = `http://127.0.0.1:${port}`
  return { port, url, adminPort, calls, stop, ...partsOf(service) }
}

function configOf(
  environment: Readonly<Record<string, string>>,
  options: TestServiceOptions,
): Config {
  const { jwt: _jwt, adminToken, ...limits } = options
  const admin =
    adminToken === undefined ? undefined : { host: '127.0.0.1', port: 0, token: adminToken }
  return { ...readConfig({ ...SETTINGS, ...environment }), ...limits, admin }
}

function overridesOf(options: TestServiceOptions, calls: PortCalls): Overrides {
  const { tokenCacheMs = 0, failedAttemptPolicy = PATIENT, retentionMs = 60_000 } = options
  return {
    ...options,
    garbageDelayMs: 0,
    retentionMs,
    purgeDelayMs: 0,
    thread: { onDeath: failOnDeath },
    tokenCacheMs,
    failedAttemptPolicy,
    aroundPorts: (ports) => calls.record(ports),
  }
}

const PATIENT = { ...FAILED_ATTEMPT_POLICY, maxFailedAttempts: Infinity }

/** What a test needs to look behind the service. */
function partsOf({ userStore, accessTokens, grants, sweeper, ...service }: Service) {
  const { objects } = service
  async function setCapacity({ userId }: TestUser, bytes: number): Promise<void> {
    const period = { startsAt: undefined, endsAt: undefined }
    await grants.putGrant({ userId, source: 'test', reference: 'capacity', bytes, ...period })
  }
  return {
    users: userStore,
    accessTokens,
    failedAttempts: service.failedAttempts,
    ledger: service.ledger,
    objects,
    uploads: service.uploads,
    async createUser(capacity: number): Promise<TestUser> {
      const userId = parseUserId(randomUUID())
      await userStore.createUser(userId)
      const terms = { userId, label: 'test', expiresInSeconds: undefined }
      const { secret } = await accessTokens.issue(terms)
      const user = { userId, cookie: `access_token=${secret}` }
      await setCapacity(user, capacity)
      return user
    },
    setCapacity,
    sweep: () => sweeper.sweep({ signal: AbortSignal.timeout(30_000) }),
    async storedKeys({ userId }: TestUser): Promise<string[]> {
      const signal = AbortSignal.timeout(30_000)
      const listing = objects.list({ prefix: `users/${userId}/`, signal })
      return (await Array.fromAsync(listing)).map(({ key }) => key)
    },
  }
}

/** Where a service keeps what it has: a database and an object store of its own. */
export interface TestPlace {
  /** The settings that name them. */
  readonly environment: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** A service whose end is followed by that of its place. */
export async function openIn(place: TestPlace, options?: TestServiceOptions): Promise<TestService> {
  const service = await startTestService(place, options)
  const stop = async (): Promise<void> => {
    await service.stop()
    await place.remove()
  }
  return { ...service, stop }
}

/** Two instances of one service, in either order of their ends. The place ends once both have stopped. */
export type TwinServices = readonly [TestService, TestService]

export async function openTwinsIn(
  place: TestPlace,
  options?: TestServiceOptions,
): Promise<TwinServices> {
  const shared = { ...options, calls: new PortCalls() }
  const [here, there] = [
    await startTestService(place, shared),
    await startTestService(place, shared),
  ]
  const running = new Set([here, there])
  const withPlace = (twin: TestService): TestService => ({
    ...twin,
    async stop() {
      await twin.stop()
      if (running.delete(twin) && running.size === 0) await place.remove()
    },
  })
  return [withPlace(here), withPlace(there)]
}
