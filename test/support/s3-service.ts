import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { createS3Store, type S3StoreOptions } from '../../src/object-store/s3/store.ts'
import { createMemoryFolder } from './local-server.ts'
import type { S3Address } from './s3-server.ts'
import { freshBucket, removeBucket } from './test-bucket.ts'
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
  type TwinServices,
  withEnd,
} from './test-service.ts'

/** A service on a new SQLite database and a new bucket of that server, both of which its end removes. */
export async function openOnS3(
  address: S3Address | undefined,
  options?: TestServiceOptions,
): Promise<TestService> {
  const shared = await createShared(address)
  return withEnd(await startInstance(shared, options), () => shared.remove())
}

/** Two instances of such a service. */
export async function openTwinsOnS3(
  address: S3Address | undefined,
  options?: TestServiceOptions,
): Promise<TwinServices> {
  const shared = await createShared(address)
  const first = await startInstance(shared, options)
  const second = await startInstance(shared, options)
  return [second, withEnd(first, () => shared.remove())]
}

/** What all instances of one service share. */
interface Shared {
  readonly databaseFile: string
  readonly bucket: S3StoreOptions
  remove(): Promise<void>
}

async function createShared(address: S3Address | undefined): Promise<Shared> {
  const folder = await createMemoryFolder('service')
  const bucket = freshBucket(address)
  const remove = async (): Promise<void> => {
    await removeBucket(bucket)
    await folder.remove()
  }
  return { databaseFile: join(folder.path, 'test.db'), bucket, remove }
}

/** An instance with a connection to the database and a client of the object store of its own. */
async function startInstance(shared: Shared, options?: TestServiceOptions): Promise<TestService> {
  const database = await openSqlite({ file: shared.databaseFile })
  await migrate(database)
  const objects = createS3Store(shared.bucket)
  await objects.prepare(AbortSignal.timeout(10_000))
  const service = await startTestService(
    { database, objects, writerFile: shared.databaseFile },
    options,
  )
  return withEnd(service, async () => {
    await objects.close()
    await database.close()
  })
}
