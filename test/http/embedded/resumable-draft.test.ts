import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { badDraftInputSuite } from '../resumable-draft/bad-input-suite.ts'
import { draftInterimSuite } from '../resumable-draft/interim-suite.ts'
import { draftProtocolSuite } from '../resumable-draft/protocol-suite.ts'
import { draftTermsSuite } from '../resumable-draft/terms-suite.ts'

describe('the IETF draft on SQLite and local files', () => {
  draftProtocolSuite(openEmbedded)
  draftTermsSuite(openEmbedded)
  draftInterimSuite(openEmbedded)
  badDraftInputSuite(openEmbedded)
})
