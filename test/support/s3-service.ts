import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { createS3Store } from '../../src/object-store/s3.ts'
import { createFolder } from './local-server.ts'
import type { S3Address } from './s3-server.ts'
import { freshBucket, removeBucket } from './test-bucket.ts'
import { startTestService, type TestService, type TestServiceOptions } from './test-service.ts'

/** A service on a new SQLite database and a new bucket of that server, both of which its end removes. */
export async function openOnS3(
  address: S3Address | undefined,
  options?: TestServiceOptions,
): Promise<TestService> {
  const folder = await createFolder('service')
  const database = await openSqlite({ file: join(folder.path, 'test.db') })
  await migrate(database)
  const bucket = freshBucket(address)
  const objects = createS3Store(bucket)
  await objects.prepare(AbortSignal.timeout(10_000))
  const service = await startTestService({ database, objects }, options)
  const stop = async (): Promise<void> => {
    await service.stop()
    await objects.close()
    await database.close()
    await removeBucket(bucket)
    await folder.remove()
  }
  return { ...service, stop }
}
