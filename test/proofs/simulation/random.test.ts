import { randomSuite } from './random-suite.ts'

randomSuite({ replays: 5, runs: 100 })
