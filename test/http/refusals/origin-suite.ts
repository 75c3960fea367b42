import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { expectProblem, type OpenService, SHORT_LINGER, upload } from '../fixture.ts'

const CROSS_SITE = { status: 403, code: 'cross_site_request' } as const
const BY_HTTPS = { 'X-Forwarded-Proto': 'https' }
const BY_HTTP = { 'X-Forwarded-Proto': 'http' }

type Sent = readonly [origin: string, more: Readonly<Record<string, string>>]

/** What no site's own page sends, over whatever it comes. */
const NEVER = [
  'javascript://localhost',
  'ftp://localhost',
  'ws://localhost',
  'file://localhost',
  'chrome-extension://localhost',
  'localhost',
  'http:localhost',
  'null',
  '',
]

interface OriginList {
  readonly where: string
  readonly trustedProxies: readonly string[]
  readonly taken: readonly Sent[]
  readonly refused: readonly Sent[]
}

/**
 * Whose writes are taken of browsers that send an `Origin` and no `Sec-Fetch-Site`. Row C07 of the list of bad input.
 */
export function originSuite(open: OpenService): void {
  describe('the origin of a write', () => {
    const lists: readonly OriginList[] = [
      {
        where: 'without a trusted proxy, when TLS may end before the service',
        trustedProxies: [],
        taken: [
          ['http://localhost', {}],
          ['https://localhost', {}],
          ['HTTP://LOCALHOST', {}],
          ['http://localhost', BY_HTTPS],
          ['https://localhost', BY_HTTP],
        ],
        refused: [['https://localhost:81', {}], ...NEVER.map((origin): Sent => [origin, {}])],
      },
      {
        where: 'behind a trusted proxy',
        trustedProxies: ['127.0.0.1'],
        taken: [
          ['https://localhost', BY_HTTPS],
          ['http://localhost', BY_HTTP],
          ['http://localhost', {}],
        ],
        refused: [
          ['http://localhost', BY_HTTPS],
          ['https://localhost', BY_HTTP],
          ['https://localhost', {}],
          ['https://localhost:444', BY_HTTPS],
          ...NEVER.map((origin): Sent => [origin, BY_HTTPS]),
        ],
      },
    ]

    describe.each(lists)('$where', ({ trustedProxies, taken, refused }) => {
      let service: TestService
      let user: TestUser
      beforeAll(async () => {
        service = await open({ trustedProxies, ...SHORT_LINGER })
      })
      afterAll(() => service.stop())
      beforeEach(async () => {
        user = await service.createUser(1000)
      })
      const write = (Origin: string, more: Sent[1]) =>
        upload(service, { user, content: 'new', headers: { Origin, ...more } })

      it.each(taken)('C07 %j with %j is taken', async (...sent) => {
        expect((await write(...sent)).status).toBe(200)
      })

      it.each(refused)('C07 %j with %j is refused', async (...sent) => {
        expectProblem(await write(...sent), CROSS_SITE)
      })
    })

    it('C07 is not asked for where a browser says that the page is of the same origin', async () => {
      const service = await open({ trustedProxies: ['127.0.0.1'] })
      const user = await service.createUser(1000)
      // TLS ends at a proxy before the trusted one, which hears http.
      const headers = { Origin: 'https://localhost', 'Sec-Fetch-Site': 'same-origin', ...BY_HTTP }
      expect((await upload(service, { user, content: 'new', headers })).status).toBe(200)
      await service.stop()
    })

    it('C07 is allowed with its scheme, not with the other', async () => {
      const service = await open({ allowedOrigins: ['https://app.example.com'], ...SHORT_LINGER })
      const user = await service.createUser(1000)
      const write = (Origin: string) =>
        upload(service, { user, content: 'new', headers: { Origin } })
      expect((await write('https://app.example.com')).status).toBe(200)
      expectProblem(await write('http://app.example.com'), CROSS_SITE)
      await service.stop()
    })
  })
}
