import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { historySuite } from '../history/history-suite.ts'
import { narrowEndsSuite } from '../history/narrow-ends-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  historySuite(openProduction)
  narrowEndsSuite(openProduction)
})
