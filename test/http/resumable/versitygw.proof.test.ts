import { describe, inject } from 'vitest'
import { openOnS3, openTwinsOnS3 } from '../../support/service/s3-service.ts'
import type { TestService, TestServiceOptions } from '../../support/service/test-service.ts'
import { appendsSuite } from './appends-suite.ts'
import { uploadChecksumsSuite } from './checksums-suite.ts'
import { uploadEndsSuite } from './ends-suite.ts'
import { uploadCapacitySuite } from './capacity-suite.ts'
import { creationSuite } from './creation-suite.ts'
import { deferredLengthSuite } from './deferred-length-suite.ts'
import { uploadInstancesSuite } from './instances-suite.ts'
import { refusedCommitSuite } from './refused-commit-suite.ts'
import { termsSuite } from './terms-suite.ts'

const versitygw = inject('versitygw')

// What ends before the store is asked is tested on the other stacks.
describe.skipIf(versitygw === undefined)('resumable uploads on SQLite and versitygw', () => {
  creationSuite(openService)
  deferredLengthSuite(openService)
  appendsSuite(openService)
  uploadChecksumsSuite(openService)
  uploadEndsSuite(openService)
  termsSuite(openService)
  uploadCapacitySuite(openService)
  refusedCommitSuite(openService)
  uploadInstancesSuite(() => openTwinsOnS3(versitygw))
})

function openService(options?: TestServiceOptions): Promise<TestService> {
  return openOnS3(versitygw, options)
}
