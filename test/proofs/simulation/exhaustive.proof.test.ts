import { exhaustiveSuite } from './exhaustive-suite.ts'

exhaustiveSuite({ oneIn: 1, oneResumableIn: 1 })
