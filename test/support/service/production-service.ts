import { inject } from 'vitest'
import { createMigratedDatabase } from './migrated-database.ts'
import { s3Settings } from './s3-settings.ts'
import { freshBucket, removeBucket } from './test-bucket.ts'
import {
  openIn,
  openTwinsIn,
  type TestPlace,
  type TestService,
  type TestServiceOptions,
  type TwinServices,
} from './test-service.ts'

/** Whether this machine lacks a server that the next two need. */
export function isWithoutProduction(): boolean {
  return inject('minio') === undefined || inject('postgres') === undefined
}

/** A service on a new database and a new bucket, which its end removes. */
export async function openProduction(options?: TestServiceOptions): Promise<TestService> {
  return openIn(await createPlace(), options)
}

/** Two instances, each with a pool of connections and a client of the object store of its own. */
export async function openProductionTwins(options?: TestServiceOptions): Promise<TwinServices> {
  return openTwinsIn(await createPlace(), options)
}

/** A new database, with all tables, and a new bucket. */
export async function createPlace(): Promise<TestPlace> {
  const bucket = freshBucket(inject('minio'))
  const database = await createMigratedDatabase()
  return {
    environment: { DATABASE_URL: database.url, ...s3Settings(bucket) },
    async remove() {
      await removeBucket(bucket)
      await database.drop()
    },
  }
}
