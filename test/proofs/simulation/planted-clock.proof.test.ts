import { plantedSuite } from './planted-suite.ts'
import { PLANTED_CLOCK_BUGS } from './plan/planted-clock.ts'

plantedSuite(PLANTED_CLOCK_BUGS)
