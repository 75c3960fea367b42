import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestService } from '../../support/service/test-service.ts'
import {
  expectProblem,
  MIB,
  type OpenService,
  placeFile,
  SHORT_LINGER,
  usageOf,
} from '../fixture.ts'
import {
  append,
  appended,
  cancel,
  create,
  createUpload,
  expectFile,
  listed,
  offsetOf,
} from './tus-requests.ts'

const FULL = { status: 403, code: 'capacity_exceeded' } as const
const TOO_MANY = { status: 403, code: 'unfinished_uploads_exceeded' } as const

/** The quota of creations and appends. */
export function uploadCapacitySuite(open: OpenService): void {
  describe('the capacity of a user', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open({ maxUnfinished: 5, maxFiles: 8, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())

    it('R26 takes exactly ten of forty creations of a tenth each at once', async () => {
      const many = await open({ maxUnfinished: 100 })
      try {
        const user = await many.createUser(1000)
        const names = Array.from({ length: 40 }, (_, at) => `file-${at}`)
        const replies = await Promise.all(
          names.map((name) => create(many, { user, name, length: 100 })),
        )
        expect(replies.filter(({ status }) => status === 201)).toHaveLength(10)
        for (const reply of replies.filter(({ status }) => status !== 201))
          expectProblem(reply, FULL)
        expect(await usageOf(many, user)).toMatchObject({ used: 0, reserved: 1000 })
      } finally {
        await many.stop()
      }
    })

    it('R26 that shrinks refuses the next append before its body, until there is room', async () => {
      const user = await service.createUser(1000)
      const upload = await createUpload(service, { user, length: 900 })
      await appended(service, upload, { body: randomBytes(400) })
      await service.setCapacity(user, 500)
      const rest = randomBytes(500)
      const headers = { Expect: '100-continue' }
      const reply = await append(service, upload, { offset: 400, body: rest, headers })
      expect(expectProblem(reply, FULL)['capacity']).toBe(500)
      expect(reply.all.map(({ status }) => status)).toEqual([403])
      expect(await offsetOf(service, upload)).toBe(400)
      await service.setCapacity(user, 1000)
      await appended(service, upload, { offset: 400, body: rest })
      expect(await usageOf(service, user)).toMatchObject({ used: 900, reserved: 0 })
    })

    it('is not used twice by a file that replaces one of its size, at 100 % too', async () => {
      const { user } = await placeFile(service, { capacity: 1000, size: 1000 })
      const upload = await createUpload(service, { user, length: 1000 })
      expect(await usageOf(service, user)).toMatchObject({ used: 1000, reserved: 0 })
      const content = randomBytes(1000)
      await appended(service, upload, { body: content.subarray(0, 300) })
      await appended(service, upload, { offset: 300, body: content.subarray(300) })
      await expectFile(service, upload, content)
    })

    it('refuses one byte too many, and files above the largest size, with the figures', async () => {
      const user = await service.createUser(1000)
      const refused = expectProblem(await create(service, { user, length: 1001 }), FULL)
      expect(refused).toMatchObject({ capacity: 1000, requested: 1001, available: 1000 })
      const tooLarge = { status: 413, code: 'file_too_large' } as const
      expectProblem(await create(service, { user, length: 64 * MIB + 1 }), tooLarge)
      expect(await listed(service, user)).toEqual([])
    })

    it('R28 holds a number of unfinished uploads, and one more when one has ended', async () => {
      const user = await service.createUser(1000)
      const uploads = []
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        uploads.push(await createUpload(service, { user, name, length: 100 }))
      }
      const refused = expectProblem(
        await create(service, { user, name: 'f', length: 100 }),
        TOO_MANY,
      )
      const figures = { unfinished_count: 5, unfinished_bytes: 500, max_unfinished_uploads: 5 }
      expect(refused).toMatchObject(figures)
      const [first, second] = uploads
      if (first === undefined || second === undefined) throw new Error('nothing was created')
      await cancel(service, first)
      await createUpload(service, { user, name: 'f', length: 100 })
      await appended(service, second, { body: randomBytes(100) })
      await createUpload(service, { user, name: 'g', length: 100 })
    })

    it('R28 bounds what overwrites may store beside it', async () => {
      const { user } = await placeFile(service, { capacity: 1000, size: 1000 })
      await createUpload(service, { user, length: 1000 })
      expectProblem(await create(service, { user, length: 1 }), TOO_MANY)
      const deferred = await createUpload(service, { user, length: 'deferred' })
      expectProblem(await append(service, deferred, { body: 'x' }), {
        ...TOO_MANY,
        more: ['unfinished_count', 'unfinished_bytes'],
      })
    })
  })
}
