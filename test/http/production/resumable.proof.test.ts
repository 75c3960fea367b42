import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { uploadAccessSuite } from '../resumable/access-suite.ts'
import { uploadCapacitySuite } from '../resumable/capacity-suite.ts'
import { uploadChecksumsSuite } from '../resumable/checksums-suite.ts'
import { creationSuite } from '../resumable/creation-suite.ts'
import { deferredLengthSuite } from '../resumable/deferred-length-suite.ts'
import { termsSuite } from '../resumable/terms-suite.ts'

/** The gate has these suites on SQLite and local files. */
describe.skipIf(isWithoutProduction())('resumable uploads on PostgreSQL and MinIO', () => {
  uploadAccessSuite(openProduction)
  uploadChecksumsSuite(openProduction)
  creationSuite(openProduction)
  deferredLengthSuite(openProduction)
  termsSuite(openProduction)
  uploadCapacitySuite(openProduction)
})
