import { describe, inject } from 'vitest'
import { migrate } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { createDatabase } from '../../support/servers/postgres.ts'
import { freshBucket, removeBucket } from '../../support/service/test-bucket.ts'
import type { VerifyAdapters } from './fixture.ts'
import { verifyRaceSuite } from './race-suite.ts'
import { verifySuite } from './suite.ts'
import { verifyUploadsSuite } from './uploads-suite.ts'

const minio = inject('minio')
const postgres = inject('postgres')

async function openProduction(): Promise<VerifyAdapters> {
  const own = await createDatabase(postgres ?? '')
  const database = await openPostgres({ url: own.url })
  await migrate(database)
  const bucket = freshBucket(minio)
  const objects = createS3Store(bucket)
  await objects.prepare(AbortSignal.timeout(10_000))
  const close = async (): Promise<void> => {
    await objects.close()
    await database.close()
    await removeBucket(bucket)
    await own.drop()
  }
  return { database, objects, close }
}

describe.skipIf(minio === undefined || postgres === undefined)('with real servers', () => {
  verifySuite('PostgreSQL and MinIO', openProduction)
  verifyUploadsSuite('PostgreSQL and MinIO', openProduction)
  verifyRaceSuite('PostgreSQL and MinIO', { open: openProduction, runs: 3 })
})
