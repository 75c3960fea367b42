import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { adminAuditSuite } from '../admin/audit-suite.ts'
import { sharing } from '../fixture.ts'
import { ADMIN_OPTIONS } from '../admin/fixture.ts'
import { adminGrantsSuite } from '../admin/grants-suite.ts'
import { adminArchiveSuite } from '../admin/archive-suite.ts'
import { adminFilesSuite } from '../admin/files-suite.ts'
import { adminHistorySuite } from '../admin/history-suite.ts'
import { adminOperatorsSuite } from '../admin/operators-suite.ts'
import { adminOverviewSuite } from '../admin/overview-suite.ts'
import { adminLinksSuite } from '../admin/links-suite.ts'
import { adminUploadsSuite } from '../admin/uploads-suite.ts'
import { adminUsersSuite } from '../admin/users-suite.ts'
import { adminWebhooksSuite } from '../admin/webhooks-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  const open = sharing(openProduction, ADMIN_OPTIONS)
  adminUsersSuite(open)
  adminGrantsSuite(open)
  adminUploadsSuite(open)
  adminArchiveSuite(open)
  adminHistorySuite(open)
  adminFilesSuite(open)
  adminOverviewSuite(openProduction)
  adminAuditSuite(openProduction)
  adminLinksSuite(open)
  adminWebhooksSuite(open)
  adminOperatorsSuite(openProduction)
})
