import { describe, inject } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { createS3Store } from '../../src/object-store/s3.ts'
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

/** A service on a new database and a new bucket, which its end removes. */
async function openService(options?: TestServiceOptions): Promise<TestService> {
  const folder = await createFolder('service')
  const database = await openSqlite({ file: `${folder.path}/test.db` })
  await migrate(database)
  const bucket = freshBucket(versitygw)
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
