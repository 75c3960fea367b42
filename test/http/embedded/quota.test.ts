import { describe } from 'vitest'
import { openEmbedded, openEmbeddedTwins } from '../../support/service/embedded-service.ts'
import { parallelUploadsSuite } from '../quota/parallel-uploads-suite.ts'
import { impossibleLengthsSuite, quotaSuite } from '../quota/quota-suite.ts'
import { racesSuite } from '../quota/races-suite.ts'

describe('the service on SQLite and local files', () => {
  quotaSuite(openEmbedded)
  impossibleLengthsSuite(openEmbedded)
  racesSuite(async () => [await openEmbedded()])
})

describe('two instances of the service on SQLite and local files', () => {
  parallelUploadsSuite(openEmbeddedTwins)
})
