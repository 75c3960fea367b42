import { describe } from 'vitest'
import { openEmbedded } from '../../support/embedded-service.ts'
import { changesSuite } from '../changes-suite.ts'
import { conditionalWritesSuite } from '../conditional-writes-suite.ts'
import { digestsSuite } from '../digests-suite.ts'
import { fileNamesSuite } from '../file-names-suite.ts'
import { rawUploadsSuite } from '../raw-uploads-suite.ts'
import { removalsSuite } from '../removals-suite.ts'
import { takenBackSuite } from '../taken-back-suite.ts'
import { uploadsSuite } from '../uploads-suite.ts'
import { visibilitySuite } from '../visibility-suite.ts'

describe('the service on SQLite and local files', () => {
  uploadsSuite(openEmbedded)
  rawUploadsSuite(openEmbedded)
  digestsSuite(openEmbedded)
  conditionalWritesSuite(openEmbedded)
  removalsSuite(openEmbedded)
  changesSuite(openEmbedded)
  visibilitySuite(openEmbedded)
  fileNamesSuite(openEmbedded)
  takenBackSuite(openEmbedded)
})
