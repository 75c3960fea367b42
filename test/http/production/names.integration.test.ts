import { describe } from 'vitest'
import { VALID_NAMES } from '../../support/names/valid-names.ts'
import { isWithoutProduction, openProduction } from '../../support/service/production-service.ts'
import { markersSuite } from '../names/markers-suite.ts'
import { survivalSuite } from '../names/survival-suite.ts'

const SOME_NAMES = VALID_NAMES.filter((_, at) => at % 4 === 0)

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  survivalSuite(openProduction, { runs: 1, names: SOME_NAMES })
  markersSuite(openProduction)
})
