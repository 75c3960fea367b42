import { describe } from 'vitest'
import { openEmbedded, openEmbeddedPair } from '../support/embedded-service.ts'
import { accessSuite } from './access-suite.ts'
import { brokenUploadsSuite } from './broken-uploads-suite.ts'
import { fileNamesSuite } from './file-names-suite.ts'
import { parserErrorsSuite } from './parser-errors-suite.ts'
import { quotaSuite } from './quota-suite.ts'
import { racesSuite } from './races-suite.ts'
import { uploadsSuite } from './uploads-suite.ts'
import { writeRacesSuite } from './write-races-suite.ts'
import { writeSuites } from './write-suites.ts'

describe('the service on SQLite and local files', () => {
  uploadsSuite(openEmbedded)
  brokenUploadsSuite(openEmbedded)
  fileNamesSuite(openEmbedded)
  accessSuite(openEmbedded)
  parserErrorsSuite(openEmbedded)
  quotaSuite(openEmbedded)
  writeSuites(openEmbedded)
  racesSuite(async () => [await openEmbedded()])
})

describe('two instances of the service on SQLite and local files', () => {
  writeRacesSuite(openEmbeddedPair)
})
