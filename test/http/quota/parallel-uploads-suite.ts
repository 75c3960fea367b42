import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
  TestService,
  TestServiceOptions,
  TwinServices,
} from '../../support/service/test-service.ts'
import {
  download,
  expectProblem,
  MIB,
  pauseUpload,
  placeFile,
  upload,
  usageOf,
} from '../fixture.ts'
import { beginUpload } from '../file-requests.ts'

const MAX_UPLOADS = 4
const TOO_MANY = { status: 429, code: 'too_many_requests' } as const

type OpenTwins = (options?: TestServiceOptions) => Promise<TwinServices>

/** Row H12 of the list of bad input: how many uploads of a user are under way, on all instances together. */
export function parallelUploadsSuite(openTwins: OpenTwins): void {
  describe('uploads of one user at once', () => {
    let twins: TwinServices
    let here: TestService
    beforeAll(async () => {
      twins = await openTwins({ maxUploads: MAX_UPLOADS })
      ;[here] = twins
    })
    afterAll(() => Promise.all(twins.map((service) => service.stop())))

    const either = (index: number): TestService => (index % 2 === 0 ? twins[0] : twins[1])

    it('H12 are let in as many as may be, exactly, and the rest told to come again', async () => {
      const user = await here.createUser(64 * MIB)
      const content = randomBytes(100_000)
      const { promise: go, resolve } = Promise.withResolvers<void>()
      const replies = Array.from({ length: 12 }, async (_, index) => {
        const name = `file-${index}`
        const paused = pauseUpload(either(index), { user, name, content })
        void go.then(async () => (await paused).resume())
        return await (
          await paused
        ).reply
      })
      // A refusal comes at once, so those that are let in are what is left.
      const refused: unknown[] = []
      for (const reply of replies) {
        void reply.then((reply) => reply.status === 429 && refused.push(reply))
      }
      await expect.poll(() => refused.length, { timeout: 10_000 }).toBe(12 - MAX_UPLOADS)
      expect(await here.ledger.measureJournal(20)).toMatchObject({ reservations: MAX_UPLOADS })
      const reserved = MAX_UPLOADS * content.length
      expect(await usageOf(here, user)).toMatchObject({ used: 0, reserved, fileCount: 0 })
      resolve()
      const statuses = (await Promise.all(replies)).map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_UPLOADS)
      const figures = { used: reserved, reserved: 0, fileCount: MAX_UPLOADS }
      expect(await usageOf(here, user)).toMatchObject(figures)
      expect((await upload(here, { user, content: 'one more' })).status).toBe(200)
    })

    it.each([
      ['POST', {}],
      ['PUT', {}],
      ['POST', { Expect: '100-continue' }],
      ['PUT', { Expect: '100-continue' }],
    ] as const)('H12 refuse a %s with %j when there are as many', async (method, headers) => {
      const { user, content } = await placeFile(here)
      const versions = await Promise.all(twins.map((service) => beginUpload(service, user)))
      versions.push(await beginUpload(here, user), await beginUpload(here, user))
      for (const name of ['file.bin', 'new']) {
        const reply = await upload(here, { user, method, name, content: 'new', headers })
        const { retry_after: seconds } = expectProblem(reply, TOO_MANY)
        expect(reply.headers['retry-after']).toBe(String(seconds))
        expect(seconds).toBe(5)
        // No 100 before it, so that whoever asks first sends nothing in vain.
        expect(reply.all.map(({ status }) => status)).toEqual([429])
      }
      expect((await download(here, { user })).body.equals(content)).toBe(true)
      expect(await usageOf(here, user)).toMatchObject({ reserved: 0, fileCount: 1 })
      const neighbour = await here.createUser(1000)
      expect((await upload(here, { user: neighbour, method, content: 'x' })).status).toBe(200)
      for (const version of versions.slice(1)) {
        await here.ledger.abort({ userId: user.userId, version })
      }
      expect((await upload(here, { user, method, content: 'new', headers })).status).toBe(200)
    })
  })
}
