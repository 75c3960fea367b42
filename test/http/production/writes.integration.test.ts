import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { sharing, SHORT_LINGER } from '../fixture.ts'
import { conditionalWritesSuite } from '../writes/conditional-writes-suite.ts'
import { descriptionsSuite } from '../writes/descriptions-suite.ts'
import { digestsSuite } from '../writes/digests-suite.ts'
import { rawUploadsSuite } from '../writes/raw-uploads-suite.ts'
import { takenBackSuite } from '../writes/taken-back-suite.ts'
import { uploadsSuite } from '../writes/uploads-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  const open = sharing(openProduction, undefined, SHORT_LINGER)
  uploadsSuite(open)
  descriptionsSuite(open)
  rawUploadsSuite(open)
  digestsSuite(open)
  conditionalWritesSuite(open)
  takenBackSuite(open)
})
