import { resumableClientsSuite } from './resumable-clients-suite.ts'
import { PRODUCTION } from './stacks.ts'

resumableClientsSuite(PRODUCTION)
