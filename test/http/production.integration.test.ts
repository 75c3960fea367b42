import { describe, inject } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { openPostgres } from '../../src/database/postgres.ts'
import { createS3Store, type S3StoreOptions } from '../../src/object-store/s3.ts'
import { createDatabase } from '../support/postgres.ts'
import { freshBucket, removeBucket } from '../support/test-bucket.ts'
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
  type TwinServices,
  withEnd,
} from '../support/test-service.ts'
import { adminBadInputSuite } from '../admin/bad-input-suite.ts'
import { adminGrantsSuite } from '../admin/grants-suite.ts'
import { adminGuessingSuite } from '../admin/guessing-suite.ts'
import { adminUsersSuite } from '../admin/users-suite.ts'
import { accessSuite } from './access-suite.ts'
import { brokenUploadsSuite } from './broken-uploads-suite.ts'
import { connectionsSuite } from './connections-suite.ts'
import { crossOriginSuite } from './cross-origin-suite.ts'
import { downloadSuite } from './download-suite.ts'
import { everyCodeSuite } from './every-code-suite.ts'
import { fileNamesSuite } from './file-names-suite.ts'
import { inertAnswersSuite } from './inert-answers-suite.ts'
import { guessingSuite } from './guessing-suite.ts'
import { parallelUploadsSuite } from './parallel-uploads-suite.ts'
import { parserErrorsSuite } from './parser-errors-suite.ts'
import { quotaSuite } from './quota-suite.ts'
import { racesSuite } from './races-suite.ts'
import { revocationSuite } from './revocation-suite.ts'
import { slowHeadsSuite } from './slow-heads-suite.ts'
import { slowReadersSuite } from './slow-readers-suite.ts'
import { secrecySuite } from './secrecy-suite.ts'
import { secrecyTimingSuite } from './secrecy-timing-suite.ts'
import { sessionSuite } from './session-suite.ts'
import { uploadsSuite } from './uploads-suite.ts'
import { writeRacesSuite } from './write-races-suite.ts'
import { writeSuites } from './write-suites.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const missing = minio === undefined || postgres === undefined

describe.skipIf(missing)('the service on PostgreSQL and MinIO', () => {
  uploadsSuite(openProduction)
  downloadSuite(openProduction)
  brokenUploadsSuite(openProduction)
  everyCodeSuite(openProduction)
  fileNamesSuite(openProduction)
  accessSuite(openProduction)
  connectionsSuite(openProduction)
  crossOriginSuite(openProduction)
  inertAnswersSuite(openProduction)
  secrecySuite(openProduction)
  secrecyTimingSuite(openProduction)
  sessionSuite(openProduction)
  parserErrorsSuite(openProduction)
  quotaSuite(openProduction)
  slowHeadsSuite(openProduction)
  slowReadersSuite(openProduction)
  adminUsersSuite(openProduction)
  adminGrantsSuite(openProduction)
  adminBadInputSuite(openProduction)
  adminGuessingSuite(openProduction)
  writeSuites(openProduction)
})

describe.skipIf(missing)('two instances of the service on PostgreSQL and MinIO', () => {
  racesSuite(openTwins)
  writeRacesSuite(openTwins)
  revocationSuite(openTwins)
  guessingSuite(openTwins)
  parallelUploadsSuite(openTwins)
})

/** Two instances of a service on a new database and a new bucket, which the end of both removes. */
async function openTwins(options?: TestServiceOptions): Promise<TwinServices> {
  const shared = await createShared()
  const first = await startInstance(shared, options)
  const second = await startInstance(shared, options)
  return [second, withEnd(first, () => shared.remove())]
}

/** A service on a new database and a new bucket, which its end removes. */
async function openProduction(options?: TestServiceOptions): Promise<TestService> {
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
  const bucket = freshBucket(minio)
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
  const objects = createS3Store(shared.bucket)
  await objects.prepare(AbortSignal.timeout(10_000))
  const service = await startTestService({ database, objects }, options)
  return withEnd(service, async () => {
    await objects.close()
    await database.close()
  })
}
