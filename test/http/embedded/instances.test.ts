import { describe } from 'vitest'
import { openEmbeddedTwins } from '../../support/service/embedded-service.ts'
import { guessingSuite } from '../connections/guessing-suite.ts'
import { revocationSuite } from '../connections/revocation-suite.ts'
import { writeRacesSuite } from '../quota/write-races-suite.ts'

describe('two instances of the service on SQLite and local files', () => {
  writeRacesSuite(openEmbeddedTwins)
  revocationSuite(openEmbeddedTwins)
  guessingSuite(openEmbeddedTwins)
})
