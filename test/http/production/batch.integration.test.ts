import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { batchSuite } from '../batch/batch-suite.ts'
import { prefixBatchSuite } from '../batch/prefix-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  batchSuite(openProduction)
  prefixBatchSuite(openProduction)
})
