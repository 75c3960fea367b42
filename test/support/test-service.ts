import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { type AccessTokens, createAccessTokens } from '../../src/core/auth/access-tokens.ts'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { buildAdmin } from '../../src/http/admin/app.ts'
import { createGrants } from '../../src/core/quota/grants.ts'
import {
  FAILED_ATTEMPT_POLICY,
  type FailedAttemptPolicy,
} from '../../src/core/auth/failed-attempts.ts'
import {
  createFailedAttemptLimiter,
  type FailedAttemptLimiter,
} from '../../src/core/auth/failed-attempt-limiter.ts'
import { createJwtUsers, type JwtUsersOptions } from '../../src/core/auth/jwt-users.ts'
import type { Ledger } from '../../src/core/ledger/ledger.ts'
import type { ObjectStore } from '../../src/core/objects/object-store.ts'
import { createReadiness } from '../../src/core/readiness.ts'
import type { FreeSpace } from '../../src/core/uploads/free-space.ts'
import { createRepository } from '../../src/core/files/repository.ts'
import { createSweeper, type SweepReport } from '../../src/core/sweep/sweeper.ts'
import { parseUserId, type UserId } from '../../src/core/users/user-id.ts'
import type { UserStore } from '../../src/core/users/user-store.ts'
import { createUsers } from '../../src/core/users/users.ts'
import type { Database } from '../../src/database/database.ts'
import { createFailedAttemptStore } from '../../src/database/users/failed-attempts.ts'
import { createLedger } from '../../src/database/ledger/ledger.ts'
import { createUserStore } from '../../src/database/users/user-store.ts'
import { Writer } from '../../src/database/sqlite/writer/writer.ts'
import { buildApp } from '../../src/http/public/app.ts'
import type { PageFile, WebPage } from '../../src/http/pages/static-assets.ts'
import { createMetrics } from '../../src/metrics/metrics.ts'
import { createWatchedLogger, keepOutOfLogs } from './secret-watch.ts'
import { ampleMemory } from './upload-memory.ts'
import { failOnDeath } from './fail-on-death.ts'
import { recordCalls } from './port-calls.ts'
import { holdToDocument } from '../openapi/hold-to-document.ts'

/** What a service in a test stands on. Its owner closes it. */
export interface TestAdapters {
  readonly database: Database
  readonly objects: ObjectStore
  /** The file of an embedded database whose changes are made in a thread, as those of the service are. */
  readonly writerFile?: string
}

export interface TestServiceOptions {
  readonly maxFileSize?: number
  readonly maxFiles?: number
  readonly maxUploads?: number
  /** Nothing is refused for want of space when left out. */
  readonly space?: FreeSpace
  readonly maxDownloadsPerUser?: number
  readonly maxDownloads?: number
  /** How often an address may be wrong about tokens, and what then; as often as it likes when left out. */
  readonly failedAttemptPolicy?: FailedAttemptPolicy
  readonly trustedProxies?: readonly string[]
  readonly leaseMs?: number
  /** How often a caller is verified again while a body comes; as often as in production when left out. */
  readonly reverifyMs?: number
  readonly idleTimeoutMs?: number
  /** How long what is left of a refused body is read; as long as in production when left out. */
  readonly lingerMs?: number
  /** How long a request's head may take; as long as in production when left out. */
  readonly headTimeoutMs?: number
  readonly allowedOrigins?: readonly string[]
  readonly basePath?: string
  /** The user's page, with its session; neither when left out. */
  readonly page?: WebPage
  /** The operator's page, with its session; neither when left out. */
  readonly operatorPage?: WebPage
  /** The pages at `/docs`; none when left out. */
  readonly docs?: PageFile | undefined
  readonly adminDocs?: PageFile | undefined
  /** How long an answer about a token is kept; 0 when left out, so that what a test changes in the store counts at once. */
  readonly tokenCacheMs?: number
  readonly jwt?: Omit<JwtUsersOptions, 'users'>
  /** What every user has without a grant, and what a device adds, in bytes; 0 when left out. */
  readonly baseCapacity?: number
  readonly deviceCapacity?: number
  readonly deviceModels?: ReadonlyMap<string, number>
  /** Watched for secrets when left out. */
  readonly logger?: FastifyBaseLogger
  /** Aborts what is still running, as the end of the grace period does. */
  readonly shutdown?: AbortSignal
  /** Starts the admin listener too, with this token. */
  readonly adminToken?: string
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
  readonly users: UserStore
  readonly accessTokens: AccessTokens
  readonly failedAttempts: FailedAttemptLimiter
  readonly ledger: Ledger
  readonly objects: ObjectStore
  /** Makes a user of exactly that capacity in bytes, with an access token. */
  createUser(capacity: number): Promise<TestUser>
  setCapacity(user: TestUser, capacity: number): Promise<void>
  sweep(): Promise<SweepReport>
  /** The keys of all objects of a user. */
  storedKeys(user: TestUser): Promise<string[]>
  stop(): Promise<void>
}

/**
 * Starts the real app over the given adapters. Its end fails when it has given an answer that its OpenAPI document does
 * not describe. Garbage has no grace period, so that one sweep shows what is left
 * for good.
 */
export async function startTestService(
  { database, objects: store, writerFile }: TestAdapters,
  options: TestServiceOptions = {},
): Promise<TestService> {
  const { maxFileSize = 64 * 2 ** 20, maxFiles = 1000, leaseMs = 60_000 } = options
  const { maxUploads = 1000 } = options
  const { baseCapacity = 0, deviceCapacity = 0, deviceModels = new Map() } = options
  const memory = ampleMemory()
  const writer =
    writerFile === undefined
      ? undefined
      : new Writer({ file: writerFile, baseCapacity }, failOnDeath)
  await writer?.start()
  const onConnection = createLedger(database, { baseCapacity })
  const bare = writer?.ledger(onConnection) ?? onConnection
  const readiness = createReadiness({ ledger: bare, objects: store, timeoutMs: 1_000 })
  const { connections } = database
  const metrics = createMetrics({ ledger: bare, readiness, memory, connections })
  const ledger = recordCalls('ledger', metrics.meterPort(bare))
  const objects = recordCalls('objects', metrics.meterObjectStore(store))
  const userStore = createUserStore(database)
  const users = recordCalls('users', metrics.meterPort(writer?.users(userStore) ?? userStore))
  const policy = options.failedAttemptPolicy ?? { ...FAILED_ATTEMPT_POLICY, maxGuesses: Infinity }
  const failedAttempts = createFailedAttemptLimiter({
    counts: metrics.meterPort(createFailedAttemptStore(database)),
    policy,
  })
  const accessTokens = createAccessTokens({
    users,
    failedAttempts,
    jwtUsers: options.jwt && createJwtUsers({ users, ...options.jwt }),
    cacheMs: options.tokenCacheMs ?? 0,
  })
  const grants = createGrants({ users, deviceCapacity, deviceModels })
  const { reverifyMs = 5_000 } = options
  const times = { leaseMs, reverifyMs, garbageDelayMs: 0 }
  const limits = { memory, maxFileSize, maxFiles, maxUploads, ...times }
  const sweeper = createSweeper({
    ledger: {
      ...ledger,
      purgeDeletedUsers: (purge) => ledger.purgeDeletedUsers({ ...purge, garbageDelayMs: 0 }),
    },
    objects,
    retentionMs: 60_000,
  })
  const metered = metrics.meterSweeper(sweeper)
  const logger = options.logger ?? createWatchedLogger()
  if (options.adminToken !== undefined) keepOutOfLogs(options.adminToken)
  const edge = { isStopping: () => false, logger, trustedProxies: options.trustedProxies ?? [] }
  const app = await buildApp({
    ledger,
    maxFiles,
    downloadLimits: {
      perUser: options.maxDownloadsPerUser ?? 1000,
      total: options.maxDownloads ?? 1000,
    },
    repository: metrics.meterRepository(
      createRepository({
        ledger,
        objects,
        ...limits,
        ...(options.space && { space: options.space }),
      }),
    ),
    accessTokens,
    readiness,
    ...edge,
    meter: metrics.meterRequests('public'),
    basePath: options.basePath ?? '',
    page: options.page,
    docs: options.docs,
    allowedOrigins: options.allowedOrigins ?? [],
    apiDocs: true,
    idleTimeoutMs: options.idleTimeoutMs ?? 10_000,
    lingerMs: options.lingerMs,
    headTimeoutMs: options.headTimeoutMs,
    shutdown: options.shutdown ?? new AbortController().signal,
  })
  const conformance = [await holdToDocument({ app, basePath: options.basePath ?? '' })]
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const admin = await startAdmin()

  async function startAdmin(): Promise<FastifyInstance | undefined> {
    if (options.adminToken === undefined) return undefined
    const onChange = (userId: UserId): void => accessTokens.forgetUser(userId)
    const useCases = {
      users: createUsers({ users, ledger, onChange }),
      accessTokens,
      grants,
      failedAttempts,
      metrics,
      readiness,
    }
    const admin = await buildAdmin({
      ...edge,
      ...useCases,
      meter: metrics.meterRequests('admin'),
      token: options.adminToken,
      page: options.operatorPage,
      docs: options.adminDocs,
    })
    const headers = { authorization: `Bearer ${options.adminToken}` }
    conformance.push(await holdToDocument({ app: admin, headers }))
    await admin.listen({ host: '127.0.0.1', port: 0 })
    return admin
  }

  async function setCapacity({ userId }: TestUser, bytes: number): Promise<void> {
    const period = { startsAt: undefined, endsAt: undefined }
    await grants.putGrant({ userId, source: 'test', reference: 'capacity', bytes, ...period })
  }

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    adminPort: (admin?.server.address() as AddressInfo | undefined)?.port ?? 0,
    users,
    accessTokens,
    failedAttempts,
    ledger,
    objects,
    async createUser(capacity) {
      const userId = parseUserId(randomUUID())
      await users.createUser(userId)
      const terms = { userId, label: 'test', expiresInSeconds: undefined }
      const { secret } = await accessTokens.issue(terms)
      const user = { userId, cookie: `access_token=${secret}` }
      await setCapacity(user, capacity)
      return user
    },
    setCapacity,
    sweep: () => metered.sweep({ signal: AbortSignal.timeout(30_000) }),
    async storedKeys({ userId }) {
      const listing = objects.list({
        prefix: `users/${userId}/`,
        signal: AbortSignal.timeout(30_000),
      })
      return (await Array.fromAsync(listing)).map(({ key }) => key)
    },
    async stop() {
      await Promise.all([app.close(), admin?.close()])
      await writer?.close()
      for (const listener of conformance) listener.assertConforms()
    },
  }
}

/** Two instances of one service. The end of the last one that stops takes along what they share. */
export type TwinServices = readonly [TestService, TestService]

/** A service whose end is followed by the end of what it stood on. */
export function withEnd(service: TestService, end: () => Promise<void>): TestService {
  const stop = async (): Promise<void> => {
    await service.stop()
    await end()
  }
  return { ...service, stop }
}
