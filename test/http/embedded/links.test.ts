import { describe } from 'vitest'
import { openEmbedded, openEmbeddedTwins } from '../../support/service/embedded-service.ts'
import { dropLimitsSuite } from '../links/drop-limits-suite.ts'
import { dropsSuite } from '../links/drops-suite.ts'
import { linkArchiveSuite } from '../links/link-archive-suite.ts'
import { linkChangesSuite } from '../links/link-changes-suite.ts'
import { linkRacesSuite } from '../links/link-races-suite.ts'
import { linksSuite } from '../links/links-suite.ts'
import { linkUsesSuite } from '../links/link-uses-suite.ts'

describe('the service on SQLite and local files', () => {
  linksSuite(openEmbedded)
  linkUsesSuite(openEmbedded)
  linkArchiveSuite(openEmbedded)
  dropsSuite(openEmbedded)
  linkRacesSuite(openEmbeddedTwins)
  linkChangesSuite(openEmbeddedTwins)
  dropLimitsSuite(openEmbeddedTwins)
})
