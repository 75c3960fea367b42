import { describe, inject } from 'vitest'
import { openOnS3 } from '../support/service/s3-service.ts'
import type { TestService, TestServiceOptions } from '../support/service/test-service.ts'
import { fileNamesSuite } from './writes/file-names-suite.ts'
import { rawUploadsSuite } from './writes/raw-uploads-suite.ts'
import { removalsSuite } from './writes/removals-suite.ts'
import { uploadsSuite } from './writes/uploads-suite.ts'

const versitygw = inject('versitygw')

// The contract of a store covers ranges and what is cut off. What ends before the store is asked, or asks nothing but the
// ledger, is tested on the other stacks. So are races: no two writers share a key.
describe.skipIf(versitygw === undefined)('the service on SQLite and versitygw', () => {
  uploadsSuite(openService)
  rawUploadsSuite(openService)
  // A name travels with its object.
  fileNamesSuite(openService)
  removalsSuite(openService)
})

function openService(options?: TestServiceOptions): Promise<TestService> {
  return openOnS3(versitygw, options)
}
