import { afterAll, beforeAll, expect, it } from 'vitest'
import { PLANTED_BUGS } from './plan/planted.ts'
import { search } from './plan/search.ts'
import { openStage, type Stage } from './world/stage.ts'
import { Violation } from './model/violation.ts'

/** Random plans within which every planted bug must be found; from seed 1, so that the number does not vary. */
const MAX_RUNS = 600

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

it.each(Object.entries(PLANTED_BUGS))(
  'finds a service that %s',
  async (name, variant) => {
    const goesOn = (runs: number): boolean => runs < MAX_RUNS
    const { runs, found } = await search({ stage, variant, firstSeed: 1, goesOn })
    console.log(`${runs} runs until found: ${name}; ${String(found?.run.violation).split('\n')[0]}`)
    expect(found?.run.violation).toBeInstanceOf(Violation)
  },
  300_000,
)
