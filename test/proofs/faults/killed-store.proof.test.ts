import { randomBytes, randomInt } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { chunked, digest, freshKey, read } from '../../support/objects.ts'
import { startS3Program } from '../../support/servers/s3-server.ts'
import { freshBucket } from '../../support/service/test-bucket.ts'
import { eachS3Server } from './each-s3-server.ts'

/** SeaweedFS takes half a minute after each until it writes again. */
const KILLS = Number(process.env['STORE_KILLS'] ?? 4)
const KILL_MS = 90_000
const WRITERS = 6
const PART_SIZE = 5 * 2 ** 20

/** Small objects, which some servers keep beside their metadata, and objects of several parts. */
const SIZES = [100, 20_000, 300_000, 2 * PART_SIZE + 1]

describe.each(await eachS3Server())(
  '$title, killed again and again while objects are written and removed,',
  ({ program, isMissing }) => {
    it.skipIf(isMissing)(
      'has every object that it confirmed, and none that it removed',
      async () => {
        await using opened = new AsyncDisposableStack()
        const server = await startS3Program(await program())
        opened.defer(() => server.stop())
        const store = createS3Store({
          ...freshBucket(server.address),
          partSize: PART_SIZE,
          maxAttempts: 1,
          deadlines: { callMs: 5000, putMs: 5000, partMs: 5000, completeMs: 5000, cleanupMs: 500 },
        })
        opened.defer(() => store.close())
        // A server can be up before it answers for buckets.
        await vi.waitFor(() => store.prepare(AbortSignal.timeout(30_000)), 30_000)
        const confirmed = new Map<ObjectKey, string>()
        const removed = new Set<ObjectKey>()
        let writes = 0
        let unknown = 0

        async function write(): Promise<void> {
          const content = randomBytes(SIZES[randomInt(SIZES.length)] ?? 0)
          const key = freshKey('killed')
          const signal = AbortSignal.timeout(20_000)
          await store.put({ key, body: chunked(content), signal })
          confirmed.set(key, digest(content))
          writes += 1
          if (randomInt(4) > 0) return
          confirmed.delete(key)
          await store.remove({ key, signal })
          removed.add(key)
        }
        for (let kill = 0; kill < KILLS; kill++) {
          const ending = new AbortController()
          const writers = Array.from({ length: WRITERS }, async () => {
            while (!ending.signal.aborted) await write().catch(() => (unknown += 1))
          })
          const enough = writes + randomInt(WRITERS, 4 * WRITERS)
          await expect.poll(() => writes, { timeout: 60_000, interval: 5 }).toBeGreaterThan(enough)
          const restarted = server.restart()
          ending.abort()
          await Promise.all([restarted, ...writers])
          // A server can be up before it answers for buckets.
          await vi.waitFor(() => store.prepare(AbortSignal.timeout(30_000)), 30_000)
        }
        const found = new Map<ObjectKey, string | undefined>()
        for (const key of confirmed.keys()) found.set(key, (await read(store, key))?.sha256)
        process.stdout.write(
          `${KILLS} kills, ${confirmed.size} confirmed, ${removed.size} removed, ${unknown} unknown\n`,
        )
        expect(found).toEqual(confirmed)
        expect(confirmed.size).toBeGreaterThan(KILLS)
        expect(removed.size).toBeGreaterThan(0)
        for (const key of removed) expect(await read(store, key)).toBeUndefined()
      },
      KILL_MS * KILLS,
    )
  },
)
