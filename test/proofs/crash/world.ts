import { readdir } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type Config, readConfig } from '../../../src/config/config.ts'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import { parseUserId, type UserId } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { openDatabase } from '../../../src/compose/adapters.ts'
import { openService, type Service } from '../../../src/compose/compose.ts'
import { createFolder } from '../../support/servers/local-server.ts'
import {
  type Received,
  startWebhookReceiver,
  WEBHOOK_SECRET,
} from '../../support/servers/webhook-receiver.ts'
import { createDatabase } from '../../support/servers/postgres.ts'
import type { S3Address } from '../../support/servers/s3-server.ts'
import { freshBucket, openUploads, removeBucket } from '../../support/service/test-bucket.ts'
import type { InstanceTimes } from './instance.ts'

/**
 * Short, so that within a run leases end, sweeps take them, and objects leave the garbage; each still well above what
 * it has to outlast: a stall of the process, the opening of a download, a write that lands late.
 */
export const TIMES: InstanceTimes = {
  leaseMs: 3_000,
  garbageDelayMs: 1_000,
  retentionMs: 6_000,
  sweepIntervalMs: 400,
}

/** Where database and objects are: a server's address, or `undefined` for SQLite and for files. */
export interface Places {
  readonly postgres: string | undefined
  readonly s3: S3Address | undefined
  /** Kills that server and starts it again, where it is a process of this machine's. */
  readonly restartS3?: (() => Promise<void>) | undefined
  /** Of `TIMES` where a write can land later than that allows. */
  readonly retentionMs?: number | undefined
  /** `false` where changes are more than a receiver gets in time. */
  readonly hasWebhooks?: boolean
  /** Of the instances, beside those that all worlds have. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface WorldUser {
  readonly userId: UserId
  /** The `Cookie` header of the user's requests. */
  readonly cookie: string
  /** Whether uploads fill the capacity, so that some are refused. */
  readonly isTight: boolean
}

/** A new database, an empty object store and some users, and a view of both that no instance is asked for. */
export interface World extends AsyncDisposable {
  /** The settings of an instance, but for its port. */
  readonly environment: Readonly<Record<string, string>>
  readonly config: Config
  readonly times: InstanceTimes
  readonly service: Service
  readonly database: Database
  readonly users: readonly [WorldUser, ...WorldUser[]]
  /** The events that reached the receiver, which answers most of them. */
  readonly webhooks: readonly Received[]
  /** What lies in the object store beside objects: unfinished multipart uploads under `keys`, temporary files. */
  unfinished(keys: Iterable<ObjectKey>): Promise<readonly string[]>
}

const MIB = 2 ** 20
const TIGHT_CAPACITY = 24 * MIB
const ROOM = 2 ** 40

export async function openWorld(places: Places): Promise<World> {
  const { postgres, s3, retentionMs = TIMES.retentionMs, hasWebhooks = true } = places
  const times = { ...TIMES, retentionMs }
  await using opened = new AsyncDisposableStack()
  const folder = await createFolder('crash')
  opened.defer(() => folder.remove())
  const receiver = opened.use(await startWebhookReceiver(answerSometimes))
  const base = {
    DATA_DIR: folder.path,
    LOG_LEVEL: 'warn',
    UPLOAD_LIFETIME: '1h',
    BASE_CAPACITY: String(TIGHT_CAPACITY),
    ...(hasWebhooks && { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET }),
    // Most of what a start takes is compiling.
    NODE_COMPILE_CACHE: join(folder.path, 'compiled'),
  }
  const database = await databaseSettings(postgres, opened)
  const objects = objectSettings(s3, opened)
  const environment = { ...base, ...database, ...objects.environment, ...places.settings }
  const config = readConfig(environment)
  const service = await openService(config, times)
  opened.defer(() => service.close())
  const opening = await openDatabase(config.database)
  opened.defer(() => opening.close())
  const users = [
    await createUser(service, { name: 'tight', room: 0 }),
    await createUser(service, { name: 'ann', room: ROOM }),
    await createUser(service, { name: 'bob', room: ROOM }),
  ] as const
  const kept = opened.move()
  return {
    environment,
    config,
    times,
    service,
    database: opening,
    users,
    webhooks: receiver.received,
    unfinished: objects.unfinished ?? (() => temporaryFiles(join(folder.path, 'objects'))),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Breaks some connections, before or after it has taken the event, and refuses some events. */
function answerSometimes(response: ServerResponse): void {
  const chance = Math.random()
  if (chance < 0.02) response.destroy()
  else response.writeHead(chance < 0.04 ? 503 : 204).end()
}

async function databaseSettings(
  url: string | undefined,
  opened: AsyncDisposableStack,
): Promise<Record<string, string>> {
  if (url === undefined) return {}
  const own = await createDatabase(url)
  opened.defer(() => own.drop())
  return { DATABASE_URL: own.url }
}

function objectSettings(address: S3Address | undefined, opened: AsyncDisposableStack) {
  if (address === undefined) return { environment: {}, unfinished: undefined }
  const bucket = freshBucket(address)
  opened.defer(() => removeBucket(bucket))
  const environment = {
    OBJECT_STORE: `s3://${bucket.bucket}`,
    AWS_ENDPOINT_URL_S3: address.endpoint,
    AWS_REGION: address.region,
    AWS_ACCESS_KEY_ID: address.accessKeyId,
    AWS_SECRET_ACCESS_KEY: address.secretAccessKey,
  }
  // By the exact key, since MinIO lists open uploads in no other way.
  const unfinished: World['unfinished'] = async (keys) => {
    const found: string[] = []
    for (const key of keys) found.push(...(await openUploads(bucket, key)))
    return found
  }
  return { environment, unfinished }
}

async function temporaryFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true })
  // Those of appends that took over are in a folder each.
  return entries.filter((name) => /\.tmp(\.d)?(\/|$)/.test(name))
}

export async function createUser(
  { users, accessTokens, grants }: Service,
  { name, room }: { readonly name: string; readonly room: number },
): Promise<WorldUser> {
  const userId = parseUserId(name)
  await users.create(userId)
  const { secret } = await accessTokens.issue({ userId, label: '', expiresInSeconds: undefined })
  const period = { startsAt: undefined, endsAt: undefined }
  await grants.putGrant({ userId, source: 'test', reference: 'room', bytes: room, ...period })
  return { userId, cookie: `access_token=${secret}`, isTight: room === 0 }
}
