import { describe } from 'vitest'
import {
  isWithoutProduction,
  openProduction,
  openProductionTwins,
} from '../../support/service/production-service.ts'
import { dropLimitsSuite } from '../links/drop-limits-suite.ts'
import { dropsSuite } from '../links/drops-suite.ts'
import { linkArchiveSuite } from '../links/link-archive-suite.ts'
import { linkChangesSuite } from '../links/link-changes-suite.ts'
import { linkRacesSuite } from '../links/link-races-suite.ts'
import { linksSuite } from '../links/links-suite.ts'
import { linkUsesSuite } from '../links/link-uses-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  linksSuite(openProduction)
  linkUsesSuite(openProduction)
  linkArchiveSuite(openProduction)
  dropsSuite(openProduction)
  linkRacesSuite(openProductionTwins)
  linkChangesSuite(openProductionTwins)
  dropLimitsSuite(openProductionTwins)
})
