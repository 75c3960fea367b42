import { describe, inject } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { createS3Store, type S3StoreOptions } from '../../src/object-store/s3.ts'
import { createFolder } from '../support/local-server.ts'
import { freshBucket, removeBucket } from '../support/test-bucket.ts'
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
import { writeRacesSuite } from './write-races-suite.ts'
import { writeSuites } from './write-suites.ts'

const versitygw = inject('versitygw')

describe.skipIf(versitygw === undefined)('the service on SQLite and versitygw', () => {
  uploadsSuite(openService)
  brokenUploadsSuite(openService)
  fileNamesSuite(openService)
  accessSuite(openService)
  parserErrorsSuite(openService)
  quotaSuite(openService)
  writeSuites(openService)
  racesSuite(async () => [await openService()])
})

describe.skipIf(versitygw === undefined)('two instances on SQLite and versitygw', () => {
  writeRacesSuite(openPair)
})

/** A service on a new database and a new bucket, which its end removes. */
async function openService(options?: TestServiceOptions): Promise<TestService> {
  const shared = await createShared()
  return withEnd(await startInstance(shared, options), () => shared.remove())
}

async function openPair(): Promise<readonly TestService[]> {
  const shared = await createShared()
  const first = await startInstance(shared)
  const second = await startInstance(shared)
  return [second, withEnd(first, () => shared.remove())]
}

/** What all instances of one service share. */
interface Shared {
  readonly databaseFile: string
  readonly bucket: S3StoreOptions
  remove(): Promise<void>
}

async function createShared(): Promise<Shared> {
  const folder = await createFolder('service')
  const bucket = freshBucket(versitygw)
  const remove = async (): Promise<void> => {
    await removeBucket(bucket)
    await folder.remove()
  }
  return { databaseFile: `${folder.path}/test.db`, bucket, remove }
}

/** An instance with a connection to the database and a client of the object store of its own. */
async function startInstance(shared: Shared, options?: TestServiceOptions): Promise<TestService> {
  const database = await openSqlite({ file: shared.databaseFile })
  await migrate(database)
  const objects = createS3Store(shared.bucket)
  await objects.prepare(AbortSignal.timeout(10_000))
  const service = await startTestService({ database, objects }, options)
  return withEnd(service, async () => {
    await objects.close()
    await database.close()
  })
}

function withEnd(service: TestService, end: () => Promise<void>): TestService {
  const stop = async (): Promise<void> => {
    await service.stop()
    await end()
  }
  return { ...service, stop }
}
