import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { download, MIB, type OpenService, pathOf, type Reply, upload } from '../fixture.ts'
import { hiddenFiles, type HiddenFile } from '../reads/hidden-files.ts'

const IN_1990 = 'Mon, 01 Jan 1990 00:00:00 GMT'

/** What a request can say that is answered by what there is. */
const ASKING = [
  {},
  { 'if-none-match': '*' },
  { 'if-match': '*' },
  { 'if-match': '"other"' },
  { 'if-modified-since': IN_1990 },
  { 'if-unmodified-since': IN_1990 },
  { range: 'bytes=0-0' },
  { range: 'bytes=1000000-' },
  { range: 'bytes=0-0', 'if-range': '"other"' },
  { 'want-repr-digest': 'sha-256=1' },
]

const LISTING = ['', '?limit=1', '?prefix=hidden', '?order=-size', '?order=updated_at&limit=1000']

/** Row C06 of the list of bad input: what a caller may not see looks as if it were not there. */
export function secrecySuite(open: OpenService): void {
  describe('what a caller may not see', () => {
    let service: TestService
    let hidden: readonly HiddenFile[]
    let viewers: readonly (TestUser | undefined)[]
    beforeAll(async () => {
      service = await open()
      hidden = await hiddenFiles(service)
      viewers = [undefined, await service.createUser(MIB)]
    })
    afterAll(() => service.stop())

    describe.each(['GET', 'HEAD'])('with %s', (method) => {
      it.each(ASKING)('C06 is not told from what is not there, asked with %j', async (headers) => {
        for (const user of viewers) {
          const answers = await Promise.all(
            hidden.map(async ({ what, owner, name, etag }) => {
              const viewer = user === undefined ? {} : { user }
              const own = { 'if-none-match': etag, 'if-range': etag }
              const plain = await download(service, { ...viewer, method, owner, name, headers })
              const knowing = { ...headers, ...own }
              const named = await download(service, {
                ...viewer,
                method,
                owner,
                name,
                headers: knowing,
              })
              expect({ what, ...seenOf(named) }).toEqual({ what, ...seenOf(plain) })
              return { what, seen: seenOf(plain) }
            }),
          )
          expectAlike(answers)
          expect(answers[0]?.seen.status).toBe(404)
        }
      })

      it.each(LISTING)('C06 is in no listing, asked with "%s"', async (query) => {
        for (const user of viewers) {
          const answers = await Promise.all(
            hidden.map(async ({ what, owner }) => {
              const path = `/users/${owner}/repo${query}`
              const viewer = user === undefined ? {} : { user }
              return { what, seen: seenOf(await download(service, { ...viewer, method, path })) }
            }),
          )
          expectAlike(answers)
          expect(answers[0]?.seen.status).toBe(200)
        }
      })
    })

    it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('C06 is not told by a %s', async (method) => {
      for (const user of viewers) {
        const answers = await Promise.all(
          hidden.map(async ({ what, owner, name }) => {
            const request = { ...(user && { user }), path: pathOf(name, owner) }
            return { what, seen: seenOf(await download(service, { ...request, method })) }
          }),
        )
        expectAlike(answers)
        expect(answers[0]?.seen.status).toBe(405)
      }
    })

    it('is there all the same, for those who may see it', async () => {
      const owner = await service.createUser(MIB)
      await upload(service, { user: owner, name: 'hidden', content: 'x' })
      expect((await download(service, { user: owner, name: 'hidden' })).status).toBe(200)
    })
  })
}

interface Answer {
  readonly what: string
  readonly seen: ReturnType<typeof seenOf>
}

function expectAlike(answers: readonly Answer[]): void {
  for (const { what, seen } of answers) {
    expect({ what, ...seen }).toEqual({ what, ...answers[0]?.seen })
  }
}

/** All that an answer shows, but what names the request and its time. */
function seenOf({ status, headers, body }: Reply) {
  const { date: _date, 'x-request-id': requestId = '', ...shown } = headers
  return { status, headers: shown, body: body.toString().replace(requestId, 'request-id') }
}
