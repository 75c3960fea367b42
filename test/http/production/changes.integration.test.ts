import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/production-service.ts'
import { changesSuite } from '../changes-suite.ts'
import { fileNamesSuite } from '../file-names-suite.ts'
import { removalsSuite } from '../removals-suite.ts'
import { visibilitySuite } from '../visibility-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  removalsSuite(openProduction)
  changesSuite(openProduction)
  visibilitySuite(openProduction)
  fileNamesSuite(openProduction)
})
