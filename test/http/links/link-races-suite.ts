import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServiceOptions, TwinServices } from '../../support/service/test-service.ts'
import { MIB, secretOf, upload, usageOf } from '../fixture.ts'
import { createLink, visit } from './link-requests.ts'

/** The uses of a link are exact at two instances. */
export function linkRacesSuite(
  open: (options?: TestServiceOptions) => Promise<TwinServices>,
): void {
  describe('a link with few uses', () => {
    let twins: TwinServices
    beforeAll(async () => {
      twins = await open()
    })
    afterAll(() => Promise.all(twins.map((twin) => twin.stop())))

    it.each([
      { kind: 'download', max: 50 },
      { kind: 'drop', max: 20 },
    ])('permits exactly $max of 200 requests at once to $kind', async ({ kind, max }) => {
      const [here] = twins
      const user = await here.createUser(MIB)
      await upload(here, { user, name: 'f', content: 'content' })
      const { secret } = await createLink(here, {
        token: secretOf(user),
        kind,
        prefix: '',
        max_uses: max,
      })
      const request = async (at: number) => {
        const path = kind === 'drop' ? `/n${at}` : '/f'
        const init = kind === 'drop' ? { method: 'PUT', body: 'content' } : {}
        const answer = await visit(twins[at % 2] ?? here, { secret, path, ...init })
        return { at, status: answer.status, text: await answer.text() }
      }
      const answers = []
      let waiting = Array.from({ length: 200 }, (_, at) => at)
      // Drops that may still fail hold their uses: others are told to come again.
      while (waiting.length > 0) {
        const told = await Promise.all(waiting.map(request))
        const isBusy = ({ status }: { readonly status: number }) =>
          kind === 'drop' && status === 429
        waiting = told.filter(isBusy).map(({ at }) => at)
        answers.push(...told.filter((answer) => !isBusy(answer)))
      }
      const served = answers.filter(({ status }) => status === 200)
      expect(served).toHaveLength(max)
      for (const { text } of served) expect(text).toMatch(/^content$|"size":7\b/)
      expect(answers.filter(({ status }) => status === 404)).toHaveLength(200 - max)
      expect((await request(200)).status).toBe(404)
      const fileCount = kind === 'drop' ? max + 1 : 1
      expect(await usageOf(here, user)).toMatchObject({ fileCount, reserved: 0 })
    })

    it('gives exactly as many bytes as its uses have, in ranges at once', async () => {
      const [here] = twins
      const user = await here.createUser(MIB)
      await upload(here, { user, name: 'f', content: 'content' })
      const terms = { token: secretOf(user), kind: 'download', prefix: '', max_uses: 9 }
      const { secret } = await createLink(here, terms)
      const request = async (at: number) => {
        const headers = { Range: `bytes=${at % 7}-${at % 7}` }
        const answer = await visit(twins[at % 2] ?? here, { secret, path: '/f', headers })
        return answer.ok ? (await answer.text()).length : 0
      }
      const given = await Promise.all(Array.from({ length: 200 }, (_, at) => request(at)))
      expect(given.reduce((sum, bytes) => sum + bytes, 0)).toBe(9 * 7)
    })
  })
}
