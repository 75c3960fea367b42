import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { draftInterimSuite } from '../resumable-draft/interim-suite.ts'
import { draftProtocolSuite } from '../resumable-draft/protocol-suite.ts'
import { draftTermsSuite } from '../resumable-draft/terms-suite.ts'

describe.skipIf(isWithoutProduction())('the IETF draft on PostgreSQL and MinIO', () => {
  draftProtocolSuite(openProduction)
  draftTermsSuite(openProduction)
  draftInterimSuite(openProduction)
})
