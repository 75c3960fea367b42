import { randomSuite } from './random-suite.ts'

randomSuite({ replays: 25, runs: 1500 })
