import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { sharing, SHORT_LINGER } from '../fixture.ts'
import { refusedAccessSuite } from '../reads/access-suite.ts'
import { bearerSuite } from '../refusals/bearer-suite.ts'
import { brokenUploadsSuite } from '../refusals/broken-uploads-suite.ts'
import { refusedChangesSuite } from '../writes/changes-suite.ts'
import { refusedConditionsSuite } from '../writes/conditional-writes-suite.ts'
import { crossOriginSuite } from '../refusals/cross-origin-suite.ts'
import { downloadBodiesSuite } from '../reads/download-suite.ts'
import { refusedDigestsSuite } from '../writes/digests-suite.ts'
import { refusedFileNamesSuite } from '../writes/file-names-suite.ts'
import { refusedListingsSuite } from '../reads/listings-suite.ts'
import { originSuite } from '../refusals/origin-suite.ts'
import { parserErrorsSuite } from '../refusals/parser-errors-suite.ts'
import { rawHeadersSuite } from '../writes/raw-uploads-suite.ts'
import { refusalsSuite } from '../refusals/refusals-suite.ts'
import { refusedRemovalsSuite } from '../writes/removals-suite.ts'
import { sessionSuite } from '../refusals/session-suite.ts'
import { twoTokensSuite } from '../refusals/two-tokens-suite.ts'

describe('the service on SQLite and local files', () => {
  const open = sharing(openEmbedded, undefined, SHORT_LINGER)
  bearerSuite(open)
  brokenUploadsSuite(open)
  refusedAccessSuite(open)
  refusedChangesSuite(open)
  refusedConditionsSuite(open)
  downloadBodiesSuite(open)
  refusedDigestsSuite(open)
  rawHeadersSuite(open)
  refusedListingsSuite(open)
  refusedRemovalsSuite(open)
  refusedFileNamesSuite(open)
  refusalsSuite(open)
  parserErrorsSuite(open)
  crossOriginSuite(open)
  sessionSuite(open)
  twoTokensSuite(open)
  originSuite(open)
})
