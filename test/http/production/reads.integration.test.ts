import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/production-service.ts'
import { accessSuite } from '../access-suite.ts'
import { connectionsSuite } from '../connections-suite.ts'
import { downloadSuite } from '../download-suite.ts'
import { everyCodeSuite } from '../every-code-suite.ts'
import { listingsSuite } from '../listings-suite.ts'
import { secrecySuite } from '../secrecy-suite.ts'
import { downloadLimitsSuite, slowReadersSuite } from '../slow-readers-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  downloadSuite(openProduction)
  listingsSuite(openProduction)
  slowReadersSuite(openProduction)
  downloadLimitsSuite(openProduction)
  connectionsSuite(openProduction)
  accessSuite(openProduction)
  everyCodeSuite(openProduction)
  secrecySuite(openProduction)
})
