import { inject } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import type { S3Deadlines } from '../../../src/object-store/s3/bucket.ts'
import { createS3Store, type S3StoreOptions } from '../../../src/object-store/s3/store.ts'
import { createDatabase } from '../../support/servers/postgres.ts'
import { freshBucket, removeBucket } from '../../support/service/test-bucket.ts'
import { startTestService, type TestService } from '../../support/service/test-service.ts'
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.ts'

export const minio = inject('minio')
export const postgres = inject('postgres')

/** Whether a server is missing that these tests need. */
export const missing = minio === undefined || postgres === undefined

/** The parts of the service that a network lies before. */
export type Part = 'the object store' | 'the database'

export interface FaultyServiceOptions {
  /** Short ones, where the defaults are not the point. */
  readonly deadlines?: Partial<S3Deadlines>
  /** How long the service waits for the database, in milliseconds. */
  readonly databaseMs?: number
  readonly leaseMs?: number
  readonly idleTimeoutMs?: number
  /** Of the least that S3 allows when left out, so that files of several parts need not be large. */
  readonly partSize?: number
  /** Stands between the service and its database. */
  readonly wrap?: (database: Database, way: TcpProxy) => Database
}

/** The service on PostgreSQL and MinIO, with a network before each that a test disturbs. */
export interface FaultyService {
  readonly service: TestService
  /** A second instance, whose ways are sound: what it sees is what there is. */
  readonly sound: TestService
  readonly database: Database
  readonly bucket: S3StoreOptions
  readonly ways: Readonly<Record<Part, TcpProxy>>
  [Symbol.asyncDispose](): Promise<void>
}

const PART_SIZE = 5 * 2 ** 20

/** Deadlines that a test can wait for. */
export const SHORT: FaultyServiceOptions = {
  deadlines: {
    callMs: 4000,
    putMs: 6000,
    partMs: 8000,
    completeMs: 8000,
    idleMs: 4000,
    cleanupMs: 500,
  },
  databaseMs: 4000,
  leaseMs: 12_000,
}

/** Deadlines that only a fault exceeds, however busy the machine is. */
export const LONG: FaultyServiceOptions = {
  deadlines: {
    callMs: 60_000,
    putMs: 60_000,
    partMs: 60_000,
    completeMs: 60_000,
    idleMs: 60_000,
  },
  databaseMs: 60_000,
}

/** Opens both instances on a new database and a new bucket, which their end removes. */
export async function openFaultyService(
  options: FaultyServiceOptions = {},
): Promise<FaultyService> {
  const {
    deadlines = {},
    databaseMs,
    leaseMs = 60_000,
    idleTimeoutMs = 60_000,
    partSize = PART_SIZE,
    wrap = (database) => database,
  } = options
  await using opened = new AsyncDisposableStack()
  const own = await createDatabase(postgres ?? '')
  opened.defer(() => own.drop())
  const bucket = freshBucket(minio)
  opened.defer(() => removeBucket(bucket))
  const ways = {
    'the object store': await openWay(opened, bucket.endpoint ?? ''),
    'the database': await openWay(opened, own.url),
  }

  async function start(part: { database: Database; bucket: S3StoreOptions }): Promise<TestService> {
    const objects = createS3Store(part.bucket)
    const { database } = part
    const service = await startTestService({ database, objects }, { leaseMs, idleTimeoutMs })
    opened.defer(async () => {
      await service.stop()
      await objects.close()
      await database.close()
    })
    return service
  }

  const database = await openPostgres({ url: own.url })
  await migrate(database)
  const sound = await start({ database, bucket })
  await sound.objects.prepare(AbortSignal.timeout(10_000))
  const farDatabase = await openPostgres({
    url: through(own.url, ways['the database']),
    ...(databaseMs !== undefined && { timeoutMs: databaseMs }),
  })
  const endpoint = through(bucket.endpoint ?? '', ways['the object store'])
  const service = await start({
    database: wrap(farDatabase, ways['the database']),
    bucket: { ...bucket, endpoint, deadlines, partSize },
  })
  const kept = opened.move()
  const dispose = async (): Promise<void> => {
    await Promise.all(Object.values(ways).map((way) => way.heal()))
    await kept.disposeAsync()
  }
  return { service, sound, database, bucket, ways, [Symbol.asyncDispose]: dispose }
}

async function openWay(opened: AsyncDisposableStack, url: string): Promise<TcpProxy> {
  const proxy = await startTcpProxy({ ports: [Number(new URL(url).port)] })
  opened.defer(() => proxy.stop())
  return proxy
}

function through(url: string, { port }: TcpProxy): string {
  const near = new URL(url)
  near.host = `127.0.0.1:${port}`
  return near.href.replace(/\/$/, '')
}
