import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { sharing, SHORT_LINGER } from '../fixture.ts'
import { changesSuite } from '../writes/changes-suite.ts'
import { conditionalWritesSuite } from '../writes/conditional-writes-suite.ts'
import { derivedTypesSuite } from '../writes/derived-types-suite.ts'
import { descriptionsSuite } from '../writes/descriptions-suite.ts'
import { digestsSuite } from '../writes/digests-suite.ts'
import { fileNamesSuite } from '../writes/file-names-suite.ts'
import { rawUploadsSuite } from '../writes/raw-uploads-suite.ts'
import { removalsSuite } from '../writes/removals-suite.ts'
import { takenBackSuite } from '../writes/taken-back-suite.ts'
import { uploadsSuite } from '../writes/uploads-suite.ts'
import { visibilitySuite } from '../writes/visibility-suite.ts'

describe('the service on SQLite and local files', () => {
  const open = sharing(openEmbedded, undefined, SHORT_LINGER)
  uploadsSuite(open)
  descriptionsSuite(open)
  derivedTypesSuite(open)
  rawUploadsSuite(open)
  digestsSuite(open)
  conditionalWritesSuite(open)
  removalsSuite(open)
  changesSuite(open)
  visibilitySuite(open)
  fileNamesSuite(open)
  takenBackSuite(open)
})
