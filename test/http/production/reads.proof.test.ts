import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { connectionsSuite } from '../connections/connections-suite.ts'
import { listingsSuite } from '../reads/listings-suite.ts'
import { slowReadersSuite } from '../reads/slow-readers-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  listingsSuite(openProduction)
  slowReadersSuite(openProduction)
  connectionsSuite(openProduction)
})
