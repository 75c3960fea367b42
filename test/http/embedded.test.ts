import { describe } from 'vitest'
import { openEmbedded, openEmbeddedTwins } from '../support/embedded-service.ts'
import { accessSuite } from './access-suite.ts'
import { brokenUploadsSuite } from './broken-uploads-suite.ts'
import { connectionsSuite } from './connections-suite.ts'
import { crossOriginSuite } from './cross-origin-suite.ts'
import { downloadSuite } from './download-suite.ts'
import { everyCodeSuite } from './every-code-suite.ts'
import { fileNamesSuite } from './file-names-suite.ts'
import { inertAnswersSuite } from './inert-answers-suite.ts'
import { guessingSuite } from './guessing-suite.ts'
import { parallelUploadsSuite } from './parallel-uploads-suite.ts'
import { parserErrorsSuite } from './parser-errors-suite.ts'
import { quotaSuite } from './quota-suite.ts'
import { racesSuite } from './races-suite.ts'
import { revocationSuite } from './revocation-suite.ts'
import { slowHeadsSuite } from './slow-heads-suite.ts'
import { slowReadersSuite } from './slow-readers-suite.ts'
import { secrecySuite } from './secrecy-suite.ts'
import { secrecyTimingSuite } from './secrecy-timing-suite.ts'
import { sessionSuite } from './session-suite.ts'
import { uploadsSuite } from './uploads-suite.ts'
import { writeRacesSuite } from './write-races-suite.ts'
import { writeSuites } from './write-suites.ts'

describe('the service on SQLite and local files', () => {
  uploadsSuite(openEmbedded)
  downloadSuite(openEmbedded)
  brokenUploadsSuite(openEmbedded)
  everyCodeSuite(openEmbedded)
  fileNamesSuite(openEmbedded)
  accessSuite(openEmbedded)
  connectionsSuite(openEmbedded)
  crossOriginSuite(openEmbedded)
  inertAnswersSuite(openEmbedded)
  secrecySuite(openEmbedded)
  secrecyTimingSuite(openEmbedded)
  sessionSuite(openEmbedded)
  parserErrorsSuite(openEmbedded)
  quotaSuite(openEmbedded)
  slowHeadsSuite(openEmbedded)
  slowReadersSuite(openEmbedded)
  writeSuites(openEmbedded)
  racesSuite(async () => [await openEmbedded()])
})

describe('two instances of the service on SQLite and local files', () => {
  revocationSuite(openEmbeddedTwins)
  guessingSuite(openEmbeddedTwins)
  parallelUploadsSuite(openEmbeddedTwins)
  writeRacesSuite(openEmbeddedTwins)
})
