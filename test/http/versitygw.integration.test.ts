import { describe, inject } from 'vitest'
import { openOnS3, openTwinsOnS3 } from '../support/s3-service.ts'
import type { TestService, TestServiceOptions } from '../support/test-service.ts'
import { brokenUploadsSuite } from './broken-uploads-suite.ts'
import { downloadSuite } from './download-suite.ts'
import { fileNamesSuite } from './file-names-suite.ts'
import { quotaSuite } from './quota-suite.ts'
import { racesSuite } from './races-suite.ts'
import { uploadsSuite } from './uploads-suite.ts'
import { writeRacesSuite } from './write-races-suite.ts'
import { contentWriteSuites } from './write-suites.ts'

const versitygw = inject('versitygw')

// What ends before the store is asked, or asks nothing but the ledger, is tested on the other stacks.
describe.skipIf(versitygw === undefined)('the service on SQLite and versitygw', () => {
  uploadsSuite(openService)
  downloadSuite(openService)
  brokenUploadsSuite(openService)
  // A name travels with its object.
  fileNamesSuite(openService)
  quotaSuite(openService)
  contentWriteSuites(openService)
  racesSuite(async () => [await openService()])
})

describe.skipIf(versitygw === undefined)('two instances on SQLite and versitygw', () => {
  writeRacesSuite(() => openTwinsOnS3(versitygw))
})

function openService(options?: TestServiceOptions): Promise<TestService> {
  return openOnS3(versitygw, options)
}
