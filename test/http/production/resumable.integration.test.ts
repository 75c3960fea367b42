import { describe } from 'vitest'
import {
  isWithoutProduction,
  openProduction,
  openProductionTwins,
} from '../../support/service/production-service.ts'
import { sharing, SHORT_LINGER } from '../fixture.ts'
import { appendsSuite } from '../resumable/appends-suite.ts'
import { uploadEndsSuite } from '../resumable/ends-suite.ts'
import { coreProtocolSuite } from '../resumable/core-protocol-suite.ts'
import { uploadInstancesSuite } from '../resumable/instances-suite.ts'
import { refusedCommitSuite } from '../resumable/refused-commit-suite.ts'

describe.skipIf(isWithoutProduction())('resumable uploads on PostgreSQL and MinIO', () => {
  const open = sharing(openProduction, undefined, SHORT_LINGER)
  coreProtocolSuite(open)
  appendsSuite(open)
  uploadEndsSuite(open)
  refusedCommitSuite(open)
})

describe.skipIf(isWithoutProduction())(
  'resumable uploads through two instances on PostgreSQL and MinIO',
  () => {
    uploadInstancesSuite(openProductionTwins)
  },
)
