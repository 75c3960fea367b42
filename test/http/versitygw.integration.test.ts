import { describe, inject } from 'vitest'
import { openOnS3, openTwinsOnS3 } from '../support/service/s3-service.ts'
import type { TestService, TestServiceOptions } from '../support/service/test-service.ts'
import { cutOffUploadsSuite } from './refusals/broken-uploads-suite.ts'
import { digestsSuite } from './writes/digests-suite.ts'
import { downloadSuite } from './reads/download-suite.ts'
import { fileNamesSuite } from './writes/file-names-suite.ts'
import { racesSuite } from './quota/races-suite.ts'
import { rawUploadsSuite } from './writes/raw-uploads-suite.ts'
import { removalsSuite } from './writes/removals-suite.ts'
import { uploadsSuite } from './writes/uploads-suite.ts'
import { writeRacesSuite } from './quota/write-races-suite.ts'

const versitygw = inject('versitygw')

// What ends before the store is asked, or asks nothing but the ledger, is tested on the other stacks.
describe.skipIf(versitygw === undefined)('the service on SQLite and versitygw', () => {
  uploadsSuite(openService)
  rawUploadsSuite(openService)
  downloadSuite(openService)
  cutOffUploadsSuite(openService)
  // A name travels with its object.
  fileNamesSuite(openService)
  digestsSuite(openService)
  removalsSuite(openService)
  racesSuite(async () => [await openService()])
})

describe.skipIf(versitygw === undefined)('two instances on SQLite and versitygw', () => {
  writeRacesSuite(() => openTwinsOnS3(versitygw))
})

function openService(options?: TestServiceOptions): Promise<TestService> {
  return openOnS3(versitygw, options)
}
