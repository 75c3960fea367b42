import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { devicesSuite } from '../devices/devices-suite.ts'
import { deviceSharesSuite } from '../devices/shares-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  devicesSuite(openProduction)
  deviceSharesSuite(openProduction)
})
