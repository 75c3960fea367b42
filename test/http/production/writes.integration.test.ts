import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/production-service.ts'
import { conditionalWritesSuite } from '../conditional-writes-suite.ts'
import { digestsSuite } from '../digests-suite.ts'
import { rawUploadsSuite } from '../raw-uploads-suite.ts'
import { takenBackSuite } from '../taken-back-suite.ts'
import { uploadsSuite } from '../uploads-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  uploadsSuite(openProduction)
  rawUploadsSuite(openProduction)
  digestsSuite(openProduction)
  conditionalWritesSuite(openProduction)
  takenBackSuite(openProduction)
})
