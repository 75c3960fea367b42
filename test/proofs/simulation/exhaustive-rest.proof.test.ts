import { exhaustiveSuite } from './exhaustive-suite.ts'

// What exhaustive.proof.test.ts leaves out, so that the two run side by side.
exhaustiveSuite({ oneIn: 2, oneResumableIn: 2, first: 1 })
