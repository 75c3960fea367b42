import { describe, expect, inject, it } from 'vitest'
import type { Places } from '../crash/world.ts'
import { CROWD, MOST_RESIDENT, runHostile } from './run.ts'
import { slowdown } from './verdict.ts'

const minio = inject('minio')
const postgres = inject('postgres')

/** How much slower the client becomes is for `npm run hostile` to say, on a machine that does nothing else. */
describe('beside more than 1,600 hostile connections', () => {
  it('C08 H03 H04 H05: a well-behaved client sees no error, and memory stays within its budget, on SQLite and files', () =>
    expectUnhurt({ postgres: undefined, s3: undefined }))

  it.skipIf(minio === undefined || postgres === undefined)(
    'C08 H03 H04 H05: likewise on PostgreSQL and MinIO',
    () => expectUnhurt({ postgres, s3: minio }),
  )
})

async function expectUnhurt(places: Places): Promise<void> {
  const figures = await runHostile({ places, size: CROWD, rounds: 1, roundMs: 10_000 })
  const { rounds, resident } = figures
  console.info(`p99 beside the crowd to that alone: ${slowdown(rounds).toFixed(2)}`)
  console.info(`resident memory at its peak: ${Math.round(resident.peak / 10 ** 6)} MB`)
  for (const { alone, beside } of rounds) {
    expect([...alone.errors, ...beside.errors]).toEqual([])
    expect(beside.latencies.length).toBeGreaterThan(0)
  }
  expect(resident.peak).toBeLessThanOrEqual(MOST_RESIDENT)
}
