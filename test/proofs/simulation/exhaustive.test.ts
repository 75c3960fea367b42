import { exhaustiveSuite } from './exhaustive-suite.ts'

exhaustiveSuite({ oneIn: 12, oneResumableIn: 24 })
