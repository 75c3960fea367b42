import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { badNamesSuite } from '../names/bad-names-suite.ts'
import { deepPathsSuite } from '../names/deep-paths-suite.ts'
import { escapesSuite } from '../names/escapes-suite.ts'
import { markersSuite } from '../names/markers-suite.ts'
import { survivalSuite } from '../names/survival-suite.ts'

describe('the service on SQLite and local files', () => {
  survivalSuite(openEmbedded, { runs: 3 })
  markersSuite(openEmbedded)
  badNamesSuite(openEmbedded)
  escapesSuite(openEmbedded)
  deepPathsSuite(openEmbedded)
})
