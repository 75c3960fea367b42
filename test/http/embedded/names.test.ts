import { describe } from 'vitest'
import { VALID_NAMES } from '../../support/names/valid-names.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { badNamesSuite } from '../names/bad-names-suite.ts'
import { deepPathsSuite } from '../names/deep-paths-suite.ts'
import { escapesSuite } from '../names/escapes-suite.ts'
import { markersSuite } from '../names/markers-suite.ts'
import { survivalSuite } from '../names/survival-suite.ts'

describe('the service on SQLite and local files', () => {
  survivalSuite(openEmbedded, { runs: 3, names: VALID_NAMES })
  markersSuite(openEmbedded)
  badNamesSuite(openEmbedded)
  escapesSuite(openEmbedded)
  deepPathsSuite(openEmbedded)
})
