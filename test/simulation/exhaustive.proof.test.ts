import { exhaustiveSuite } from './exhaustive-suite.ts'

exhaustiveSuite({ oneIn: 1 })
