import { describe, it } from 'vitest'
import { openEmbeddedTwins } from '../../support/service/embedded-service.ts'
import { guessingSuite } from '../connections/guessing-suite.ts'
import { revocationSuite } from '../connections/revocation-suite.ts'
import { expectUntouched, placeFile } from '../fixture.ts'
import { writeRacesSuite } from '../quota/write-races-suite.ts'

describe('two instances of the service on SQLite and local files', () => {
  writeRacesSuite(openEmbeddedTwins)
  revocationSuite(openEmbeddedTwins)
  guessingSuite(openEmbeddedTwins)

  it.for([0, 1] as const)('work on when the other one stops: number %i', async (at) => {
    const twins = await openEmbeddedTwins()
    const [staying, leaving] = [twins[at], twins[1 - at]]
    await leaving?.stop()
    await expectUntouched(staying, await placeFile(staying))
    await staying.stop()
  })
})
