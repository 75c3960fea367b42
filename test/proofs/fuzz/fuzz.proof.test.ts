import { expect, it } from 'vitest'
import { describeFigures } from './figures.ts'
import { runFuzz } from './run.ts'

/** Stalls and slowness of a busy machine are none of the service's. */
const MOST_STALL_MS = 5_000

it('A B H: survives mutated requests over raw sockets, loses nothing, and answers every connection', async () => {
  const figures = await runFuzz({
    places: { postgres: undefined, s3: undefined },
    seconds: 25,
    seed: 7,
    timeoutMs: 60_000,
    mostStallMs: MOST_STALL_MS,
  })
  console.info(describeFigures(figures))
  const { tally } = figures
  expect(tally.findings.map(({ number, text }) => `case ${number}: ${text}`)).toEqual([])
  // Else nothing was tried.
  expect(tally.cases).toBeGreaterThan(20)
  for (const status of [200, 400]) expect(tally.statuses.get(status)).toBeGreaterThan(0)
})
