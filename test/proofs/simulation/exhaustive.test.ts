import { exhaustiveSuite } from './exhaustive-suite.ts'

exhaustiveSuite({ oneIn: 7, oneResumableIn: 14 })
