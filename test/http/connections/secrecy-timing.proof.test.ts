import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { secrecyTimingSuite } from './secrecy-timing-suite.ts'

describe('the service on SQLite and local files', () => {
  secrecyTimingSuite(openEmbedded)
})

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  secrecyTimingSuite(openProduction)
})
