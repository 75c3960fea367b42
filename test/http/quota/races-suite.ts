import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { digest } from '../../support/objects.ts'
import type { RawExchange } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  download,
  expectNothingReserved,
  expectOnlyObjectsOf,
  expectProblem,
  jsonOf,
  MIB,
  placeFile,
  type Upload,
  upload,
  usageOf,
} from '../fixture.ts'

const FULL = { status: 403, code: 'capacity_exceeded' } as const

/** Rows D07 and D09: many uploads of one user at once, spread over all instances of a service. */
export function racesSuite(openAll: () => Promise<readonly TestService[]>): void {
  describe('uploads that race', () => {
    let services: readonly TestService[]
    let service: TestService
    beforeAll(async () => {
      services = await openAll()
      const [first] = services
      if (first === undefined) throw new Error('There is no service.')
      service = first
    })
    afterAll(() => Promise.all(services.map((each) => each.stop())))

    /** Sends them all at once, in turn to every instance. */
    function race(
      count: number,
      what: (at: number) => Parameters<typeof upload>[1],
    ): Promise<RawExchange[]> {
      return Promise.all(
        Array.from({ length: count }, (_, at) =>
          upload(services[at % services.length] ?? service, { timeoutMs: 60_000, ...what(at) }),
        ),
      )
    }

    it.each<[string, size: number, how: Pick<Upload, 'method' | 'chunked'>]>([
      ['10 KB with a Content-Length', 10_000, {}],
      ['10 KB in a chunk', 10_000, { chunked: true }],
      ['1 MiB with a Content-Length', MIB, {}],
      ['10 KB by PUT with a Content-Length', 10_000, { method: 'PUT' }],
      ['1 MiB by PUT with a Content-Length', MIB, { method: 'PUT' }],
    ])('D07 of 40 tenths of a capacity exactly ten fit: %s (I5)', async (_what, tenth, how) => {
      const user = await service.createUser(10 * tenth)
      const replies = await race(40, (at) => ({
        user,
        name: `${at}`,
        content: Buffer.alloc(tenth, at),
        ...how,
      }))
      const accepted = replies.filter(({ status }) => status === 200)
      expect(accepted).toHaveLength(10)
      for (const reply of replies) if (reply.status !== 200) expectProblem(reply, FULL)
      await expectNothingReserved(service, user)
      expect(await usageOf(service, user)).toMatchObject({ used: 10 * tenth, fileCount: 10 })
      const names = accepted.map((reply) => String(jsonOf(reply)['name']))
      for (const name of names) {
        const { body } = await download(service, { user, name })
        expect(body.equals(Buffer.alloc(tenth, Number(name)))).toBe(true)
      }
      await expectOnlyObjectsOf(service, { user, names })
    })

    it.each(['POST', 'PUT'] as const)(
      'D07 of 40 tenths of 1 MiB in chunks by %s at most ten fit, and none is cut (I5)',
      async (method) => {
        const user = await service.createUser(10 * MIB)
        const content = randomBytes(MIB)
        const replies = await race(40, (at) => ({
          method,
          user,
          name: `${at}`,
          content,
          chunked: true,
        }))
        const accepted = replies.filter(({ status }) => status === 200)
        for (const reply of replies) if (reply.status !== 200) expectProblem(reply, FULL)
        expect(accepted.length).toBeLessThanOrEqual(10)
        await expectNothingReserved(service, user)
        const fileCount = accepted.length
        expect(await usageOf(service, user)).toMatchObject({ used: fileCount * MIB, fileCount })
        const names = accepted.map((reply) => String(jsonOf(reply)['name']))
        for (const name of names) {
          expect((await download(service, { user, name })).body.equals(content)).toBe(true)
        }
        await expectOnlyObjectsOf(service, { user, names })
      },
    )

    it.each([
      ['with a Content-Length', false],
      ['in chunks', true],
    ])(
      'D09 for one name %s leave one of them whole and used as large (I4)',
      async (_how, chunked) => {
        const { user } = await placeFile(service, { capacity: 32 * MIB })
        const contents = Array.from({ length: 12 }, (_, at) => randomBytes(1 + at * 50_000))
        const replies = await race(12, (at) => ({ user, content: contents[at] ?? '', chunked }))
        expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(200))
        for (const instance of services) {
          const { body } = await download(instance, { user })
          expect(contents.filter((content) => content.equals(body))).toHaveLength(1)
          const figures = { used: body.length, reserved: 0, fileCount: 1 }
          expect(await usageOf(instance, user)).toMatchObject(figures)
        }
        const shas = replies.map((reply) => String(jsonOf(reply)['sha256']))
        expect(shas).toEqual(contents.map(digest))
        await expectOnlyObjectsOf(service, { user, names: ['file.bin'] })
      },
    )

    it('D09 for one name in a full repository end whole or refused (I5)', async () => {
      const { user } = await placeFile(service, { capacity: 100_000, size: 60_000 })
      const contents = Array.from({ length: 12 }, (_, at) => randomBytes(40_000 + at * 8000))
      const replies = await race(12, (at) => ({ user, content: contents[at] ?? '' }))
      for (const reply of replies) if (reply.status !== 200) expectProblem(reply, FULL)
      // The smallest never grows, whatever it replaces. The larger ones depend on who came before.
      expect(replies[0]?.status).toBe(200)
      expect(replies.slice(8).map(({ status }) => status)).toEqual([403, 403, 403, 403])
      const { body } = await download(service, { user })
      expect(contents.filter((content) => content.equals(body))).toHaveLength(1)
      const figures = { used: body.length, reserved: 0, fileCount: 1 }
      expect(await usageOf(service, user)).toMatchObject(figures)
      await expectOnlyObjectsOf(service, { user, names: ['file.bin'] })
    })
  })
}
