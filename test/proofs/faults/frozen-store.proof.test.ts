import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { DEFAULT_PART_SIZE } from '../../../src/object-store/s3/part-size.ts'
import { download, expectProblem, MIB, type Reply, upload } from '../../http/fixture.ts'
import type { Way } from '../../support/faults/tcp-proxy.ts'
import { missing, openFaultyService } from './faulty-service.ts'
import { expectSettled } from './settled.ts'

/** With the deadlines that the service has. */
const WORST_MS = 45_000

const FROZEN: readonly { how: string; swallowed: Way }[] = [
  { how: 'takes nothing in', swallowed: 'request' },
  { how: 'takes all in', swallowed: 'answer' },
]

describe.skipIf(missing)('E04 an object store that never answers', () => {
  it.concurrent.each(FROZEN)(
    'a store that $how keeps no small request for 45 s',
    async ({ swallowed }) => {
      await using faulty = await openFaultyService({ partSize: DEFAULT_PART_SIZE })
      const { service, sound, ways } = faulty
      const user = await sound.createUser(64 * MIB)
      const kept = randomBytes(4096)
      const what = { user, name: 'kept', timeoutMs: 120_000 }
      expect((await upload(sound, { ...what, content: kept })).status).toBe(200)

      await ways['the object store'].disturb({ kind: 'swallow' }, swallowed)
      const answers = await Promise.all([
        timed(() => upload(service, { ...what, content: '' })),
        timed(() => upload(service, { ...what, name: 'small', content: randomBytes(4096) })),
        timed(() =>
          upload(service, { ...what, name: 'part', content: randomBytes(DEFAULT_PART_SIZE) }),
        ),
        timed(() => download(service, what)),
      ])
      await ways['the object store'].heal()

      for (const { reply, tookMs } of answers) {
        expectProblem(reply, { status: 503, code: 'unavailable' })
        expect(tookMs).toBeLessThan(WORST_MS)
      }
      expect((await download(sound, what)).body.equals(kept)).toBe(true)
      await expectSettled(faulty, { user, names: ['kept'] })
    },
  )
})

async function timed(ask: () => Promise<Reply>): Promise<{ reply: Reply; tookMs: number }> {
  const began = performance.now()
  return { reply: await ask(), tookMs: performance.now() - began }
}
