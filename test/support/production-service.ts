import { inject } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { openPostgres } from '../../src/database/postgres/postgres.ts'
import { createS3Store, type S3StoreOptions } from '../../src/object-store/s3/store.ts'
import { createDatabase } from './postgres.ts'
import { freshBucket, removeBucket } from './test-bucket.ts'
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
  type TwinServices,
  withEnd,
} from './test-service.ts'

/** Whether this machine lacks a server that the next two need. */
export function isWithoutProduction(): boolean {
  return inject('minio') === undefined || inject('postgres') === undefined
}

/** Two instances of a service on a new database and a new bucket, which the end of both removes. */
export async function openProductionTwins(options?: TestServiceOptions): Promise<TwinServices> {
  const shared = await createShared()
  const first = await startInstance(shared, options)
  const second = await startInstance(shared, options)
  return [second, withEnd(first, () => shared.remove())]
}

/** A service on a new database and a new bucket, which its end removes. */
export async function openProduction(options?: TestServiceOptions): Promise<TestService> {
  const shared = await createShared()
  return withEnd(await startInstance(shared, options), () => shared.remove())
}

/** What all instances of one service share. */
interface Shared {
  readonly databaseUrl: string
  readonly bucket: S3StoreOptions
  remove(): Promise<void>
}

async function createShared(): Promise<Shared> {
  const bucket = freshBucket(inject('minio'))
  const own = await createDatabase(inject('postgres') ?? '')
  const database = await openPostgres({ url: own.url })
  await migrate(database)
  await database.close()
  const remove = async (): Promise<void> => {
    await removeBucket(bucket)
    await own.drop()
  }
  return { databaseUrl: own.url, bucket, remove }
}

/** An instance with a pool of connections and a client of the object store of its own. */
async function startInstance(shared: Shared, options?: TestServiceOptions): Promise<TestService> {
  const database = await openPostgres({ url: shared.databaseUrl })
  const objects = createS3Store(shared.bucket)
  await objects.prepare(AbortSignal.timeout(10_000))
  const service = await startTestService({ database, objects }, options)
  return withEnd(service, async () => {
    await objects.close()
    await database.close()
  })
}
