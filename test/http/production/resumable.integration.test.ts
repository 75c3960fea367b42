import { describe } from 'vitest'
import {
  isWithoutProduction,
  openProduction,
  openProductionTwins,
} from '../../support/service/production-service.ts'
import { uploadAccessSuite } from '../resumable/access-suite.ts'
import { appendsSuite } from '../resumable/appends-suite.ts'
import { uploadChecksumsSuite } from '../resumable/checksums-suite.ts'
import { uploadEndsSuite } from '../resumable/ends-suite.ts'
import { coreProtocolSuite } from '../resumable/core-protocol-suite.ts'
import { uploadCapacitySuite } from '../resumable/capacity-suite.ts'
import { creationSuite } from '../resumable/creation-suite.ts'
import { deferredLengthSuite } from '../resumable/deferred-length-suite.ts'
import { uploadInstancesSuite } from '../resumable/instances-suite.ts'
import { refusedCommitSuite } from '../resumable/refused-commit-suite.ts'
import { termsSuite } from '../resumable/terms-suite.ts'

describe.skipIf(isWithoutProduction())('resumable uploads on PostgreSQL and MinIO', () => {
  coreProtocolSuite(openProduction)
  creationSuite(openProduction)
  deferredLengthSuite(openProduction)
  uploadAccessSuite(openProduction)
  appendsSuite(openProduction)
  uploadChecksumsSuite(openProduction)
  uploadEndsSuite(openProduction)
  termsSuite(openProduction)
  uploadCapacitySuite(openProduction)
  refusedCommitSuite(openProduction)
})

describe.skipIf(isWithoutProduction())(
  'resumable uploads through two instances on PostgreSQL and MinIO',
  () => {
    uploadInstancesSuite(openProductionTwins)
  },
)
