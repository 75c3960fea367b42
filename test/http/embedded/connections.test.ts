import { describe } from 'vitest'
import { openEmbedded } from '../../support/embedded-service.ts'
import { cutOffUploadsSuite } from '../broken-uploads-suite.ts'
import { connectionsSuite } from '../connections-suite.ts'
import { secrecySuite } from '../secrecy-suite.ts'
import { slowHeadsSuite } from '../slow-heads-suite.ts'

describe('the service on SQLite and local files', () => {
  connectionsSuite(openEmbedded)
  slowHeadsSuite(openEmbedded)
  cutOffUploadsSuite(openEmbedded)
  secrecySuite(openEmbedded)
})
