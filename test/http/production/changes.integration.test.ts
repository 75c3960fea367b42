import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { sharing } from '../fixture.ts'
import { changesSuite } from '../writes/changes-suite.ts'
import { fileNamesSuite } from '../writes/file-names-suite.ts'
import { removalsSuite } from '../writes/removals-suite.ts'
import { visibilitySuite } from '../writes/visibility-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  const open = sharing(openProduction, undefined)
  removalsSuite(open)
  changesSuite(open)
  visibilitySuite(open)
  fileNamesSuite(open)
})
