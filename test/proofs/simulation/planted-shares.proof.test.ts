import { plantedSuite } from './planted-suite.ts'
import { PLANTED_SHARE_BUGS } from './plan/planted-shares.ts'

plantedSuite(PLANTED_SHARE_BUGS)
