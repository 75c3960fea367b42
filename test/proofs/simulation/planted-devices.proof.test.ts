import { PLANTED_DEVICE_BUGS } from './plan/planted-devices.ts'
import { plantedSuite } from './planted-suite.ts'

plantedSuite(PLANTED_DEVICE_BUGS)
