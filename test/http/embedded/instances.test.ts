import { describe } from 'vitest'
import { openEmbeddedTwins } from '../../support/embedded-service.ts'
import { guessingSuite } from '../guessing-suite.ts'
import { revocationSuite } from '../revocation-suite.ts'
import { writeRacesSuite } from '../write-races-suite.ts'

describe('two instances of the service on SQLite and local files', () => {
  writeRacesSuite(openEmbeddedTwins)
  revocationSuite(openEmbeddedTwins)
  guessingSuite(openEmbeddedTwins)
})
