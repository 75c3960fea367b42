import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RawExchange } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { change, etagOf, namesOf, remove, type Write, write } from '../file-requests.ts'
import {
  download,
  expectOnlyObjectsOf,
  expectProblem,
  MIB,
  placeFile,
  upload,
  usageOf,
} from '../fixture.ts'

const FAILED = { status: 412, code: 'precondition_failed' } as const

/** Writes to one file at once, spread over all instances of a service. */
export function writeRacesSuite(
  openAll: () => Promise<readonly TestService[]>,
  { rounds = 12 } = {},
): void {
  describe('writes that race for one file', () => {
    let services: readonly TestService[]
    let service: TestService
    beforeAll(async () => {
      services = await openAll()
      const [first] = services
      if (first === undefined) throw new Error('There is no service.')
      service = first
    })
    afterAll(() => Promise.all(services.map((each) => each.stop())))

    /** In turn every instance. */
    const instance = (at: number): TestService => services[at % services.length] ?? service

    it(`exactly one of the writes with the same If-Match wins, ${rounds} times in a row`, async () => {
      const user = await service.createUser(MIB)
      let etag = etagOf(await upload(service, { method: 'PUT', user, content: 'start' }))
      for (let round = 0; round < rounds; round += 1) {
        const methods = ['PUT', round % 3 === 0 ? 'POST' : 'PUT'] as const
        const contents = methods.map((_, at) => `${round} of ${at}`)
        const replies = await Promise.all(
          methods.map((method, at) => {
            const sent = {
              method,
              user,
              content: contents[at] ?? '',
              headers: { 'If-Match': etag },
            }
            return upload(instance(round + at), sent)
          }),
        )
        const winner = onlyWinner(replies)
        etag = etagOf(winner.reply)
        const found = await download(instance(round), { user })
        expect(found).toMatchObject({ status: 200, headers: { etag } })
        expect(found.body.toString()).toBe(contents[winner.at])
      }
      await expectOnlyObjectsOf(service, { user, names: ['file.bin'] })
    })

    it('exactly one of eight writes with If-None-Match: * makes the file, eight times in a row', async () => {
      const user = await service.createUser(MIB)
      const names = Array.from({ length: 8 }, (_, at) => `${at}`)
      const headers = { 'If-None-Match': '*' }
      for (const name of names) {
        const replies = await Promise.all(
          Array.from({ length: 8 }, (_, at) => {
            const method = at % 4 === 0 ? 'POST' : 'PUT'
            return upload(instance(at), { method, user, name, headers, content: `${at}` })
          }),
        )
        const { at } = onlyWinner(replies)
        expect((await download(service, { user, name })).body.toString()).toBe(`${at}`)
      }
      expect(await usageOf(service, user)).toMatchObject({ used: 8, reserved: 0, fileCount: 8 })
      await expectOnlyObjectsOf(service, { user, names })
    })

    it('exactly one of the writes of whatever method with the same If-Match wins', async () => {
      const user = await service.createUser(MIB)
      // A change keeps the etag, so it does not compete with the others.
      const methods: readonly Write[] = ['PUT', 'DELETE', 'POST', 'DELETE']
      for (let round = 0; round < 20; round += 1) {
        const headers = { 'If-Match': etagOf(await upload(service, { user, content: 'old' })) }
        const replies = await Promise.all(
          methods.map((method, at) => write(instance(round + at), { method, user, headers })),
        )
        const won = replies.filter(({ status }) => status === 200 || status === 204)
        expect(won).toHaveLength(1)
        const gone = won[0]?.status === 204
        const figures = gone ? { used: 0, fileCount: 0 } : { used: 3, fileCount: 1 }
        expect(await usageOf(service, user)).toMatchObject({ ...figures, reserved: 0 })
      }
    })

    it('D10 an overwrite and a removal have the outcome of one after the other (I4)', async () => {
      const { user } = await placeFile(service, { capacity: 10_000, size: 10_000 })
      for (let round = 0; round < 30; round += 1) {
        const content = randomBytes(10_000)
        const [stored, removed] = await Promise.all([
          upload(instance(round), { method: round % 2 === 0 ? 'PUT' : 'POST', user, content }),
          remove(instance(round + 1), { user }),
        ])
        expect([stored?.status, removed?.status]).toEqual([200, 204])
        await expectWholeOrGone(instance(round), { user, content })
        await upload(service, { method: 'PUT', user, content: randomBytes(10_000) })
      }
      await expectOnlyObjectsOf(service, { user, names: ['file.bin'] })
    })

    it('an upload and a rename of its file have the outcome of one after the other (I4)', async () => {
      const user = await service.createUser(MIB)
      for (let round = 0; round < 20; round += 1) {
        await upload(service, { method: 'PUT', user, content: 'old' })
        const body = { name: 'moved', overwrite: true }
        const [stored, moved] = await Promise.all([
          upload(instance(round), { method: 'PUT', user, content: 'newer' }),
          change(instance(round + 1), { user, body }),
        ])
        expect([stored?.status, moved?.status]).toEqual([200, 200])
        const names = await namesOf(service, { user })
        const content = (await download(service, { user, name: 'moved' })).body.toString()
        const first = names.includes('file.bin') ? 'moved first' : 'stored first'
        expect([first, content]).toEqual(
          first === 'moved first' ? [first, 'old'] : [first, 'newer'],
        )
        const used = first === 'moved first' ? 8 : 5
        const figures = { used, reserved: 0, fileCount: names.length }
        expect(await usageOf(service, user)).toMatchObject(figures)
      }
      await expectOnlyObjectsOf(service, { user, names: await namesOf(service, { user }) })
    })
  })
}

/** Asserts that one write was done and all others failed for their precondition. */
function onlyWinner(replies: readonly RawExchange[]): { reply: RawExchange; at: number } {
  const won = replies.flatMap((reply, at) => (reply.status === 200 ? [{ reply, at }] : []))
  for (const reply of replies) if (reply.status !== 200) expectProblem(reply, FAILED)
  expect(won).toHaveLength(1)
  const [winner] = won
  if (winner === undefined) throw new Error('Nobody won.')
  return winner
}

async function expectWholeOrGone(
  service: TestService,
  { user, content }: { user: TestUser; content: Buffer },
): Promise<void> {
  const found = await download(service, { user })
  const stays = found.status === 200
  expect(stays ? found.body.equals(content) : found.status).toBe(stays ? true : 404)
  const figures = stays ? { used: content.length, fileCount: 1 } : { used: 0, fileCount: 0 }
  expect(await usageOf(service, user)).toMatchObject({ ...figures, reserved: 0 })
}
