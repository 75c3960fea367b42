import { Agent } from 'node:http'
import { expect, inject, it } from 'vitest'
import { contentOf } from '../crash/content.ts'
import { send } from '../crash/request.ts'
import { openWorld } from '../crash/world.ts'
import { startMeasured } from './measured-service.ts'

const minio = inject('minio')
const MIB = 2 ** 20

/** Many times what the memory holds, of two parts and a half each. */
const UPLOADS = 24
const content = contentOf('large', 20 * MIB)

it.skipIf(minio === undefined)(
  'many large uploads at once all come in, in little memory',
  async () => {
    await using opened = new AsyncDisposableStack()
    const world = opened.use(await openWorld({ postgres: undefined, s3: minio }))
    const environment = { ...world.environment, UPLOAD_MEMORY: '64MiB', BASE_CAPACITY: '10GiB' }
    const service = await startMeasured(environment, opened)
    const { cookie } = world.users[0]
    const outcomes = await Promise.all(
      Array.from({ length: UPLOADS }, (_, at) =>
        send({
          agent: new Agent(),
          port: service.port,
          method: 'PUT',
          path: `/users/me/repo/large-${at}`,
          headers: { cookie, 'content-length': String(content.length) },
          body: [content],
        }),
      ),
    )
    expect(outcomes.filter((it) => it.kind !== 'reply' || it.status !== 200)).toEqual([])
    expect(await service.peakBytes()).toBeLessThanOrEqual(200 * 10 ** 6 + 2 * 64 * MIB)
  },
  300_000,
)
