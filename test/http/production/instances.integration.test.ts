import { describe } from 'vitest'
import { isWithoutProduction, openProductionTwins } from '../../support/production-service.ts'
import { guessingSuite } from '../guessing-suite.ts'
import { parallelUploadsSuite } from '../parallel-uploads-suite.ts'
import { racesSuite } from '../races-suite.ts'
import { revocationSuite } from '../revocation-suite.ts'
import { writeRacesSuite } from '../write-races-suite.ts'

describe.skipIf(isWithoutProduction())(
  'two instances of the service on PostgreSQL and MinIO',
  () => {
    racesSuite(openProductionTwins)
    writeRacesSuite(openProductionTwins)
    revocationSuite(openProductionTwins)
    guessingSuite(openProductionTwins)
    parallelUploadsSuite(openProductionTwins)
  },
)
