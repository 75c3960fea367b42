import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { adminAuditSuite } from './audit-suite.ts'
import { sharing } from '../fixture.ts'
import { ADMIN_OPTIONS } from './fixture.ts'
import { adminBadInputSuite } from './bad-input-suite.ts'
import { adminGrantsSuite } from './grants-suite.ts'
import { adminMetricsSuite } from './metrics-suite.ts'
import { adminGuessingSuite } from './guessing-suite.ts'
import { adminSessionSuite } from './session-suite.ts'
import { adminArchiveSuite } from './archive-suite.ts'
import { adminFilesSuite } from './files-suite.ts'
import { adminHistorySuite } from './history-suite.ts'
import { adminOperatorsSuite } from './operators-suite.ts'
import { adminOverviewSuite } from './overview-suite.ts'
import { adminLinksSuite } from './links-suite.ts'
import { adminUploadsSuite } from './uploads-suite.ts'
import { adminUsersSuite } from './users-suite.ts'
import { adminWebhooksSuite } from './webhooks-suite.ts'

describe('the admin API on SQLite and local files', () => {
  const open = sharing(openEmbedded, ADMIN_OPTIONS)
  adminUsersSuite(open)
  adminGrantsSuite(open)
  adminMetricsSuite(openEmbedded)
  adminBadInputSuite(open)
  adminGuessingSuite(open)
  adminSessionSuite(open)
  adminUploadsSuite(open)
  adminArchiveSuite(open)
  adminHistorySuite(open)
  adminFilesSuite(open)
  adminOverviewSuite(openEmbedded)
  adminAuditSuite(openEmbedded)
  adminLinksSuite(open)
  adminWebhooksSuite(open)
  adminOperatorsSuite(openEmbedded)
})
