import { describe } from 'vitest'
import { openEmbedded } from '../../support/embedded-service.ts'
import { accessSuite } from '../access-suite.ts'
import { downloadSuite } from '../download-suite.ts'
import { everyCodeSuite } from '../every-code-suite.ts'
import { inertAnswersSuite } from '../inert-answers-suite.ts'
import { listingsSuite } from '../listings-suite.ts'
import { downloadLimitsSuite, slowReadersSuite } from '../slow-readers-suite.ts'

describe('the service on SQLite and local files', () => {
  downloadSuite(openEmbedded)
  listingsSuite(openEmbedded)
  slowReadersSuite(openEmbedded)
  downloadLimitsSuite(openEmbedded)
  inertAnswersSuite(openEmbedded)
  accessSuite(openEmbedded)
  everyCodeSuite(openEmbedded)
})
