import { plantedSuite } from './planted-suite.ts'
import { PLANTED_RESUMABLE_BUGS } from './plan/planted-resumable.ts'
import { PLANTED_BUGS } from './plan/planted.ts'

plantedSuite({ ...PLANTED_BUGS, ...PLANTED_RESUMABLE_BUGS })
