// 40 clients write to one account that is full, and make room, while the instances are killed.
import { describe, expect, inject, it } from 'vitest'
import { forTest } from '../../support/for-test.ts'
import { Crowd, LEAST_EVICTED, MOST_KEPT } from './evicting-crowd.ts'
import { startInstances } from './instances.ts'
import { openWorld, type Places } from './world.ts'

const minio = inject('minio')
const postgres = inject('postgres')

const RUN_MS = Number(process.env['EVICTING_MS'] ?? 20_000)

const PLACES: readonly { readonly on: string; readonly instances: number; places: Places }[] = [
  { on: 'SQLite and files', instances: 1, places: { postgres: undefined, s3: undefined } },
  { on: 'PostgreSQL and MinIO', instances: 2, places: { postgres, s3: minio } },
]

describe.each(PLACES)('writers that evict, on $on', ({ instances, places }) => {
  const isMissing = instances > 1 && (postgres === undefined || minio === undefined)
  it.skipIf(isMissing)(
    'never exceed the capacity, and lose only the oldest files that nobody keeps',
    async () => {
      const world = forTest().use(await openWorld({ ...places, hasWebhooks: false }))
      const opened = forTest()
      const crowd = new Crowd(world, await startInstances(world, { count: instances, opened }))
      await crowd.work(RUN_MS)
      await crowd.settle()
      console.info(crowd.summary())
      expect(crowd.tally.violations).toEqual([])
      expect(crowd.tally.kills).toBeGreaterThan(1)
      expect(crowd.evicted).toBeGreaterThan(LEAST_EVICTED)
      expect(crowd.kept.size).toBe(MOST_KEPT)
    },
    RUN_MS + 600_000,
  )
})
