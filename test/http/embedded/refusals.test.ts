import { describe } from 'vitest'
import { openEmbedded } from '../../support/embedded-service.ts'
import { refusedAccessSuite } from '../access-suite.ts'
import { brokenUploadsSuite } from '../broken-uploads-suite.ts'
import { refusedChangesSuite } from '../changes-suite.ts'
import { refusedConditionsSuite } from '../conditional-writes-suite.ts'
import { crossOriginSuite } from '../cross-origin-suite.ts'
import { refusedDigestsSuite } from '../digests-suite.ts'
import { refusedFileNamesSuite } from '../file-names-suite.ts'
import { refusedListingsSuite } from '../listings-suite.ts'
import { originSuite } from '../origin-suite.ts'
import { parserErrorsSuite } from '../parser-errors-suite.ts'
import { rawHeadersSuite } from '../raw-uploads-suite.ts'
import { refusalsSuite } from '../refusals-suite.ts'
import { refusedRemovalsSuite } from '../removals-suite.ts'
import { sessionSuite } from '../session-suite.ts'
import { twoTokensSuite } from '../two-tokens-suite.ts'

describe('the service on SQLite and local files', () => {
  brokenUploadsSuite(openEmbedded)
  refusedAccessSuite(openEmbedded)
  refusedChangesSuite(openEmbedded)
  refusedConditionsSuite(openEmbedded)
  refusedDigestsSuite(openEmbedded)
  rawHeadersSuite(openEmbedded)
  refusedListingsSuite(openEmbedded)
  refusedRemovalsSuite(openEmbedded)
  refusedFileNamesSuite(openEmbedded)
  refusalsSuite(openEmbedded)
  parserErrorsSuite(openEmbedded)
  crossOriginSuite(openEmbedded)
  sessionSuite(openEmbedded)
  twoTokensSuite(openEmbedded)
  originSuite(openEmbedded)
})
