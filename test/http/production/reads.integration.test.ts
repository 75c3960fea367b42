import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { accessSuite } from '../reads/access-suite.ts'
import { connectionsSuite } from '../connections/connections-suite.ts'
import { downloadSuite } from '../reads/download-suite.ts'
import { listingsSuite } from '../reads/listings-suite.ts'
import { secrecySuite } from '../connections/secrecy-suite.ts'
import { slowReadersSuite } from '../reads/slow-readers-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  downloadSuite(openProduction)
  listingsSuite(openProduction)
  slowReadersSuite(openProduction)
  connectionsSuite(openProduction)
  accessSuite(openProduction)
  secrecySuite(openProduction)
})
