// Two devices with full shares write to one account at once, while the instances are killed.
import { describe, expect, inject, it } from 'vitest'
import { runDevices } from './run-devices.ts'
import type { Places } from './world.ts'

const minio = inject('minio')
const postgres = inject('postgres')

/** `npm run crash -- --devices` plays more of them. */
const ROUNDS = 6

const PLACES: readonly { readonly on: string; readonly places: Places }[] = [
  { on: 'SQLite and files', places: { postgres: undefined, s3: undefined } },
  { on: 'PostgreSQL and MinIO', places: { postgres, s3: minio } },
]

describe.each(PLACES)('two devices with full shares, on $on', ({ on, places }) => {
  const isMissing = on.startsWith('PostgreSQL') && (postgres === undefined || minio === undefined)
  it.skipIf(isMissing)(
    'never exceed their shares, and evict only their own files (I16)',
    async () => {
      const seed = Math.floor(Math.random() * 2 ** 30)
      const { tally, evicted, taken } = await runDevices({ places, rounds: ROUNDS, seed })
      console.info(`seed ${seed}: ${tally.acknowledgedUploads} uploads, ${evicted} evictions`)
      expect(tally.violations).toEqual([])
      // Else nothing was at stake.
      expect(tally.acknowledgedUploads).toBeGreaterThan(100)
      expect(evicted).toBeGreaterThan(50)
      expect(taken).toBeGreaterThan(0)
    },
  )
})
