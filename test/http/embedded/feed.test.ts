import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { feedSuite } from '../changes/feed-suite.ts'

describe('the service on SQLite and local files', () => {
  feedSuite(openEmbedded)
})
