import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { historySuite } from '../history/history-suite.ts'
import { narrowEndsSuite } from '../history/narrow-ends-suite.ts'

describe('the service on SQLite and local files', () => {
  historySuite(openEmbedded)
  narrowEndsSuite(openEmbedded)
})
