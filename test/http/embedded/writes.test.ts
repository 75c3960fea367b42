import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { changesSuite } from '../writes/changes-suite.ts'
import { conditionalWritesSuite } from '../writes/conditional-writes-suite.ts'
import { descriptionsSuite } from '../writes/descriptions-suite.ts'
import { digestsSuite } from '../writes/digests-suite.ts'
import { fileNamesSuite } from '../writes/file-names-suite.ts'
import { rawUploadsSuite } from '../writes/raw-uploads-suite.ts'
import { removalsSuite } from '../writes/removals-suite.ts'
import { takenBackSuite } from '../writes/taken-back-suite.ts'
import { uploadsSuite } from '../writes/uploads-suite.ts'
import { visibilitySuite } from '../writes/visibility-suite.ts'

describe('the service on SQLite and local files', () => {
  uploadsSuite(openEmbedded)
  descriptionsSuite(openEmbedded)
  rawUploadsSuite(openEmbedded)
  digestsSuite(openEmbedded)
  conditionalWritesSuite(openEmbedded)
  removalsSuite(openEmbedded)
  changesSuite(openEmbedded)
  visibilitySuite(openEmbedded)
  fileNamesSuite(openEmbedded)
  takenBackSuite(openEmbedded)
})
