import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { sharing, SHORT_LINGER } from '../fixture.ts'
import { cutOffUploadsSuite } from '../refusals/broken-uploads-suite.ts'
import { quotaSuite } from '../quota/quota-suite.ts'
import { ledgerRefusalsSuite } from '../refusals/refusals-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  const open = sharing(openProduction, undefined, SHORT_LINGER)
  quotaSuite(open)
  cutOffUploadsSuite(open)
  ledgerRefusalsSuite(open)
})
