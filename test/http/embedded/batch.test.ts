import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { batchRefusalsSuite } from '../batch/batch-refusals-suite.ts'
import { batchSuite } from '../batch/batch-suite.ts'
import { prefixBatchSuite } from '../batch/prefix-suite.ts'

describe('the service on SQLite and local files', () => {
  batchSuite(openEmbedded)
  prefixBatchSuite(openEmbedded)
  batchRefusalsSuite(openEmbedded)
})
