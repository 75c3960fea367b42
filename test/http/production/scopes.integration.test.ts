import { describe } from 'vitest'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { scopedTokensSuite } from '../scopes/scoped-tokens-suite.ts'
import { unreadSuite } from '../scopes/unread-suite.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  scopedTokensSuite(openProduction)
  unreadSuite(openProduction)
})
