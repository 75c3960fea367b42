import { describe } from 'vitest'
import {
  isWithoutProduction,
  openProductionTwins,
} from '../../support/service/production-service.ts'
import { parallelUploadsSuite } from '../quota/parallel-uploads-suite.ts'
import { racesSuite } from '../quota/races-suite.ts'
import { revocationSuite } from '../connections/revocation-suite.ts'
import { writeRacesSuite } from '../quota/write-races-suite.ts'

describe.skipIf(isWithoutProduction())(
  'two instances of the service on PostgreSQL and MinIO',
  () => {
    racesSuite(openProductionTwins)
    writeRacesSuite(openProductionTwins)
    revocationSuite(openProductionTwins)
    parallelUploadsSuite(openProductionTwins)
  },
)
