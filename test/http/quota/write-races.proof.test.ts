import { describe } from 'vitest'
import { openEmbeddedTwins } from '../../support/service/embedded-service.ts'
import {
  isWithoutProduction,
  openProductionTwins,
} from '../../support/service/production-service.ts'
import { writeRacesSuite } from './write-races-suite.ts'

const rounds = 400

describe('two instances of the service on SQLite and local files', () => {
  writeRacesSuite(openEmbeddedTwins, { rounds })
})

describe.skipIf(isWithoutProduction())(
  'two instances of the service on PostgreSQL and MinIO',
  () => {
    writeRacesSuite(openProductionTwins, { rounds })
  },
)
