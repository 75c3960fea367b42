import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  download,
  expectNothingChanged,
  expectProblem,
  expectTwoTokens,
  type OpenService,
  type Placed,
  placeFile,
  secretOf,
  upload,
} from '../fixture.ts'

const CROSS_SITE = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }
const MISSING = { status: 403, code: 'access_token_missing' } as const
const INVALID = { status: 403, code: 'access_token_invalid' } as const

/** `Authorization: Bearer` in place of the cookie. */
export function bearerSuite(open: OpenService): void {
  describe('a bearer token', () => {
    let service: TestService
    let placed: Placed
    let other: TestUser
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      other = await service.createUser(1000)
      placed = await placeFile(service)
    })
    const bearer = (user: TestUser = placed.user) => ({ Authorization: `Bearer ${secretOf(user)}` })

    it.each(['bearer', 'BEARER', 'Bearer  '])('is recognised after %j', async (scheme) => {
      const headers = { Authorization: `${scheme.padEnd(7)}${secretOf(placed.user)}` }
      expect((await download(service, { headers })).status).toBe(200)
    })

    it.each(['Bearer', 'Bearer wrong', 'Bearer a b', 'Bearer \t'])(
      'a bearer token that is none, such as %j, is refused, also beside a good cookie',
      async (authorization) => {
        const headers = { Authorization: authorization }
        expectProblem(await download(service, { headers }), INVALID)
        expectTwoTokens(await download(service, { user: placed.user, headers }))
      },
    )

    it.each(['Basic YTpi', 'Bearerx crt_1', 'crt_1'])(
      'is not seen in %j, which may be for a proxy',
      async (authorization) => {
        const headers = { Authorization: authorization }
        expectProblem(await download(service, { headers }), MISSING)
        expect((await download(service, { user: placed.user, headers })).status).toBe(200)
      },
    )

    it('is refused beside the cookie of another user, and accepted beside the same', async () => {
      const { user } = placed
      const write = { user, content: 'new', headers: bearer(other) }
      expectTwoTokens(await upload(service, write))
      expectTwoTokens(await download(service, { user, headers: bearer(other) }))
      expectNothingChanged(service, placed)
      expect((await upload(service, { ...write, headers: bearer() })).status).toBe(200)
    })

    it('is no credential that a browser sends by itself, so any page may send it', async () => {
      const { user } = placed
      const headers = { ...CROSS_SITE, ...bearer() }
      const refused = await upload(service, { user, content: 'new', headers: CROSS_SITE })
      expectProblem(refused, { status: 403, code: 'cross_site_request' })
      expectNothingChanged(service, placed)
      expect((await upload(service, { content: 'new', headers })).status).toBe(200)
      expect((await upload(service, { user, content: 'newer', headers })).status).toBe(200)
    })
  })
}
