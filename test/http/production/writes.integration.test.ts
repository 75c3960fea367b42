import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { conditionalWritesSuite } from '../writes/conditional-writes-suite.ts'
import { descriptionsSuite } from '../writes/descriptions-suite.ts'
import { digestsSuite } from '../writes/digests-suite.ts'
import { rawUploadsSuite } from '../writes/raw-uploads-suite.ts'
import { takenBackSuite } from '../writes/taken-back-suite.ts'
import { uploadsSuite } from '../writes/uploads-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  uploadsSuite(openProduction)
  descriptionsSuite(openProduction)
  rawUploadsSuite(openProduction)
  digestsSuite(openProduction)
  conditionalWritesSuite(openProduction)
  takenBackSuite(openProduction)
})
