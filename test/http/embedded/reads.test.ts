import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { sharing } from '../fixture.ts'
import { accessSuite } from '../reads/access-suite.ts'
import { archiveSuite } from '../reads/archive-suite.ts'
import { downloadSuite } from '../reads/download-suite.ts'
import { everyCodeSuite } from '../reads/every-code-suite.ts'
import { inertAnswersSuite } from '../reads/inert-answers-suite.ts'
import { listingsSuite } from '../reads/listings-suite.ts'
import { downloadLimitsSuite, slowReadersSuite } from '../reads/slow-readers-suite.ts'

describe('the service on SQLite and local files', () => {
  const open = sharing(openEmbedded, undefined)
  downloadSuite(open)
  listingsSuite(open)
  archiveSuite(open)
  slowReadersSuite(open)
  downloadLimitsSuite(open)
  inertAnswersSuite(open)
  accessSuite(open)
  everyCodeSuite(open)
})
