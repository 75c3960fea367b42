import { randomUUID } from 'node:crypto'
import { DeleteBucketCommand } from '@aws-sdk/client-s3'
import { describe, inject } from 'vitest'
import type { ObjectStore } from '../../src/core/object-store.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openPostgres } from '../../src/database/postgres.ts'
import { createS3Client } from '../../src/object-store/s3-client.ts'
import { createS3Store } from '../../src/object-store/s3.ts'
import { createDatabase } from '../support/postgres.ts'
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../support/test-service.ts'
import { accessSuite } from './access-suite.ts'
import { brokenUploadsSuite } from './broken-uploads-suite.ts'
import { fileNamesSuite } from './file-names-suite.ts'
import { parserErrorsSuite } from './parser-errors-suite.ts'
import { quotaSuite } from './quota-suite.ts'
import { racesSuite } from './races-suite.ts'
import { uploadsSuite } from './uploads-suite.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const missing = minio === undefined || postgres === undefined

describe.skipIf(missing)('the service on PostgreSQL and MinIO', () => {
  uploadsSuite(openProduction)
  brokenUploadsSuite(openProduction)
  fileNamesSuite(openProduction)
  accessSuite(openProduction)
  parserErrorsSuite(openProduction)
  quotaSuite(openProduction)
})

describe.skipIf(missing)('two instances of the service on PostgreSQL and MinIO', () => {
  racesSuite(async () => {
    const shared = await createShared()
    const first = await startInstance(shared)
    const second = await startInstance(shared)
    const stop = async (): Promise<void> => {
      await first.stop()
      await shared.remove()
    }
    return [second, { ...first, stop }]
  })
})

/** A service on a new database and a new bucket, which its end removes. */
async function openProduction(options?: TestServiceOptions): Promise<TestService> {
  const shared = await createShared()
  const service = await startInstance(shared, options)
  const stop = async (): Promise<void> => {
    await service.stop()
    await shared.remove()
  }
  return { ...service, stop }
}

/** What all instances of one service share. */
interface Shared {
  readonly databaseUrl: string
  readonly bucket: string
  remove(): Promise<void>
}

async function createShared(): Promise<Shared> {
  const bucket = `test-${randomUUID()}`
  const own = await createDatabase(postgres ?? '')
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
  const objects = createS3Store({ ...settings(), bucket: shared.bucket })
  await objects.prepare(AbortSignal.timeout(10_000))
  const service = await startTestService({ database, objects }, options)
  const stop = async (): Promise<void> => {
    await service.stop()
    await objects.close()
    await database.close()
  }
  return { ...service, stop }
}

async function removeBucket(bucket: string): Promise<void> {
  const store = createS3Store({ ...settings(), bucket })
  const client = createS3Client(settings())
  await removeObjects(store)
  await client.send(new DeleteBucketCommand({ Bucket: bucket }))
  await store.close()
  client.destroy()
}

async function removeObjects(store: ObjectStore): Promise<void> {
  const signal = AbortSignal.timeout(60_000)
  const listing = store.list({ prefix: 'users/', signal })
  const keys = (await Array.fromAsync(listing)).map(({ key }) => key)
  await Promise.all(keys.map((key) => store.remove({ key, signal })))
}

function settings() {
  const { endpoint = '', region = '', accessKeyId = '', secretAccessKey = '' } = minio ?? {}
  return { endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } }
}
