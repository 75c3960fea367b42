import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { sharing } from '../fixture.ts'
import { accessSuite } from '../reads/access-suite.ts'
import { archiveSuite } from '../reads/archive-suite.ts'
import { downloadSuite } from '../reads/download-suite.ts'
import { secrecySuite } from '../connections/secrecy-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  const open = sharing(openProduction, undefined)
  downloadSuite(open)
  archiveSuite(open)
  accessSuite(open)
  secrecySuite(open)
})
