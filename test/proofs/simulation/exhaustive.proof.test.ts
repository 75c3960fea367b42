import { exhaustiveSuite } from './exhaustive-suite.ts'

exhaustiveSuite({ oneIn: 2, oneResumableIn: 2, first: 0 })
