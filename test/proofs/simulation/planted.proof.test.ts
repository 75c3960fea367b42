import { afterAll, beforeAll, expect, it } from 'vitest'
import { PLANTED_BATCH_BUGS } from './plan/planted-batches.ts'
import { PLANTED_FEED_BUGS } from './plan/planted-changes.ts'
import { PLANTED_HISTORY_BUGS } from './plan/planted-history.ts'
import { PLANTED_RESUMABLE_BUGS } from './plan/planted-resumable.ts'
import { PLANTED_RETENTION_BUGS } from './plan/planted-retention.ts'
import { PLANTED_BUGS } from './plan/planted.ts'
import { search, searchCrashes } from './plan/search.ts'
import { openStage, type Stage } from './world/stage.ts'
import { Violation } from './model/violation.ts'

/**
 * Random plans within which every planted bug must be found, if not by a crash in a scenario; from seed 1, so that the
 * number does not vary.
 */
const MAX_RUNS = 600

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

const PLANTED = {
  ...PLANTED_BUGS,
  ...PLANTED_RESUMABLE_BUGS,
  ...PLANTED_FEED_BUGS,
  ...PLANTED_HISTORY_BUGS,
  ...PLANTED_RETENTION_BUGS,
  ...PLANTED_BATCH_BUGS,
}

it.each(Object.entries(PLANTED))(
  'finds a service that %s',
  async (name, variant) => {
    const goesOn = (runs: number): boolean => runs < MAX_RUNS
    const { runs, found } = await search({ stage, variant, firstSeed: 1, goesOn })
    const run = found?.run ?? (await searchCrashes({ stage, variant }))
    console.log(`${runs} runs until found: ${name}; ${String(run?.violation).split('\n')[0]}`)
    expect(run?.violation).toBeInstanceOf(Violation)
  },
  300_000,
)
