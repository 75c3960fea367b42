import { resumableClientsSuite } from './resumable-clients-suite.ts'
import { EMBEDDED } from './stacks.ts'

resumableClientsSuite(EMBEDDED)
