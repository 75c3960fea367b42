import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { cutOffUploadsSuite } from '../refusals/broken-uploads-suite.ts'
import { connectionsSuite } from '../connections/connections-suite.ts'
import { secrecySuite } from '../connections/secrecy-suite.ts'
import { slowHeadsSuite } from '../connections/slow-heads-suite.ts'

describe('the service on SQLite and local files', () => {
  connectionsSuite(openEmbedded)
  slowHeadsSuite(openEmbedded)
  cutOffUploadsSuite(openEmbedded)
  secrecySuite(openEmbedded)
})
