import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'
import type { S3Address } from '../../support/servers/s3-server.ts'
import { freshBucket, ONE_SERVER, removeBucket } from '../../support/service/test-bucket.ts'
import type { VerifyAdapters } from '../verify/fixture.ts'
import type { RebuildAdapters } from './fixture.ts'

/** Two new databases on PostgreSQL, and a new bucket of that server. */
export async function openTwoOnPostgres(address: S3Address | undefined): Promise<RebuildAdapters> {
  const lost = await openOnPostgres(address)
  const empty = await openMigrated()
  const close = async (): Promise<void> => {
    await lost.close()
    await empty.drop()
  }
  return { ...lost, empty: empty.database, close }
}

/** A new database on PostgreSQL, and a new bucket of that server. */
export async function openOnPostgres(address: S3Address | undefined): Promise<VerifyAdapters> {
  const bucket = freshBucket(address)
  const objects = createS3Store({ ...bucket, deadlines: ONE_SERVER })
  await objects.prepare(AbortSignal.timeout(10_000))
  const { database, drop } = await openMigrated()
  const close = async (): Promise<void> => {
    await objects.close()
    await removeBucket(bucket)
    await drop()
  }
  return { database, objects, close }
}

async function openMigrated() {
  const own = await createMigratedDatabase()
  const database = await openPostgres({ url: own.url })
  const drop = async (): Promise<void> => {
    await database.close()
    await own.drop()
  }
  return { database, drop }
}
