import { describe } from 'vitest'
import { openEmbedded, openEmbeddedTwins } from '../../support/service/embedded-service.ts'
import { sharing, SHORT_LINGER } from '../fixture.ts'
import { uploadAccessSuite } from '../resumable/access-suite.ts'
import { appendsSuite } from '../resumable/appends-suite.ts'
import { badUploadInputSuite } from '../resumable/bad-input-suite.ts'
import { badMetadataSuite } from '../resumable/bad-metadata-suite.ts'
import { uploadCapacitySuite } from '../resumable/capacity-suite.ts'
import { uploadChecksumsSuite } from '../resumable/checksums-suite.ts'
import { uploadEndsSuite } from '../resumable/ends-suite.ts'
import { coreProtocolSuite } from '../resumable/core-protocol-suite.ts'
import { creationSuite } from '../resumable/creation-suite.ts'
import { deferredLengthSuite } from '../resumable/deferred-length-suite.ts'
import { refusedCommitSuite } from '../resumable/refused-commit-suite.ts'
import { termsSuite } from '../resumable/terms-suite.ts'
import { uploadInstancesSuite } from '../resumable/instances-suite.ts'

describe('resumable uploads on SQLite and local files', () => {
  const open = sharing(openEmbedded, undefined, SHORT_LINGER)
  coreProtocolSuite(open)
  creationSuite(open)
  deferredLengthSuite(open)
  uploadAccessSuite(open)
  appendsSuite(open)
  uploadChecksumsSuite(open)
  uploadEndsSuite(open)
  termsSuite(open)
  uploadCapacitySuite(open)
  refusedCommitSuite(open)
  badUploadInputSuite(open)
  badMetadataSuite(open)
})

describe('resumable uploads through two instances on SQLite and local files', () => {
  uploadInstancesSuite(openEmbeddedTwins)
})
