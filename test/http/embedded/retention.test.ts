import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { retentionSuite } from '../retention/retention-suite.ts'

describe('the service on SQLite and local files', () => {
  retentionSuite(openEmbedded)
})
