import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { narrowSuite } from '../scopes/narrow-suite.ts'
import { scopedTokensSuite } from '../scopes/scoped-tokens-suite.ts'
import { unreadSuite } from '../scopes/unread-suite.ts'

describe('the service on SQLite and local files', () => {
  narrowSuite(openEmbedded)
  scopedTokensSuite(openEmbedded)
  unreadSuite(openEmbedded)
})
