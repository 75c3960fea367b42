import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { changesSuite } from '../writes/changes-suite.ts'
import { fileNamesSuite } from '../writes/file-names-suite.ts'
import { removalsSuite } from '../writes/removals-suite.ts'
import { visibilitySuite } from '../writes/visibility-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  removalsSuite(openProduction)
  changesSuite(openProduction)
  visibilitySuite(openProduction)
  fileNamesSuite(openProduction)
})
