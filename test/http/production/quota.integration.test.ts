import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/production-service.ts'
import { cutOffUploadsSuite } from '../broken-uploads-suite.ts'
import { quotaSuite } from '../quota-suite.ts'
import { ledgerRefusalsSuite } from '../refusals-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  quotaSuite(openProduction)
  cutOffUploadsSuite(openProduction)
  ledgerRefusalsSuite(openProduction)
})
