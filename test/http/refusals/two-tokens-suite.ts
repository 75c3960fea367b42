import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_BUILD } from '../../support/http/page.ts'
import type { RawExchange } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  ask,
  download,
  expectNothingChanged,
  expectProblem,
  expectTwoTokens,
  type OpenService,
  type Placed,
  placeFile,
  secretOf,
  setCookiesOf,
  SHORT_LINGER,
  upload,
} from '../fixture.ts'

const INVALID = { status: 403, code: 'access_token_invalid' } as const
const HTTPS = { 'X-Forwarded-Proto': 'https' }
const HOST_NAME = '__Host-access_token'

/**
 * A page of another port, or of a subdomain, can plant a cookie that the browser sends beside the user's own. Row C04
 * of the list of bad input.
 */
export function twoTokensSuite(open: OpenService): void {
  describe('two access tokens in one request', () => {
    let service: TestService
    let placed: Placed
    let other: TestUser
    beforeAll(async () => {
      service = await open({ page: NO_BUILD, trustedProxies: ['127.0.0.1'], ...SHORT_LINGER })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      other = await service.createUser(1000)
      placed = await placeFile(service)
    })
    const read = (cookie: string, more = {}) => download(service, { headers: { cookie, ...more } })

    it('C04 are refused when they differ, whichever comes first and whether good or not', async () => {
      const { user } = placed
      for (const second of [other.cookie, 'access_token=wrong', 'access_token=']) {
        for (const cookie of [`${user.cookie}; ${second}`, `${second}; x=y; ${user.cookie}`]) {
          expectTwoTokens(await read(cookie))
          expectTwoTokens(await upload(service, { content: 'new', headers: { cookie } }))
        }
      }
      expectNothingChanged(service, placed)
    })

    it('C04 are refused in two Cookie headers as well', async () => {
      const lines = [placed.user.cookie, other.cookie].map((cookie) => `Cookie: ${cookie}\r\n`)
      const headers = { Cookie: lines.join('').slice('Cookie: '.length).trimEnd() }
      expectTwoTokens(await ask(service, { path: '/users/me/capacity', headers }))
    })

    it('C04 are refused without a look at them when there are more than 32', async () => {
      const cookies = (count: number) =>
        ['x=y', ...(Array(count).fill(placed.user.cookie) as string[])].join('; ')
      expect((await read(cookies(32))).status).toBe(200)
      const refused = {
        status: 403,
        code: 'access_token_invalid',
        more: ['access_tokens'],
      } as const
      expect(expectProblem(await read(cookies(33)), refused)).toMatchObject({ access_tokens: 32 })
    })

    it('C04 are one when they are equal', async () => {
      const { user, content } = placed
      const cookie = `${user.cookie}; other=1; ${user.cookie}`
      expect((await read(cookie)).body.equals(content)).toBe(true)
    })

    it('C04 say nothing of whether one is good, and are no guess', async () => {
      const wrong = await read('access_token=wrong; access_token=wronger')
      const good = await read(`${placed.user.cookie}; ${other.cookie}`)
      expect(expectTwoTokens(wrong)['detail']).toBe(expectTwoTokens(good)['detail'])
    })

    describe('one of them by the name of this host alone', () => {
      const both = () => `access_token=${secretOf(other)}; ${HOST_NAME}=${secretOf(placed.user)}`

      it('C04 is the token where it is the only one', async () => {
        for (const more of [{}, HTTPS]) {
          const reply = await read(`${HOST_NAME}=${secretOf(placed.user)}`, more)
          expect(reply.body.equals(placed.content)).toBe(true)
        }
        expectProblem(await read(`${HOST_NAME}=wrong`), INVALID)
      })

      it('C04 decides alone over HTTPS, so that nobody else can lock the user out', async () => {
        const reply = await read(both(), HTTPS)
        expect(reply.body.equals(placed.content)).toBe(true)
      })

      it('C04 is refused beside another over HTTP, where any port of the host can have set it', async () => {
        expectTwoTokens(await read(both()))
        const forged = { Forwarded: 'proto=https', Origin: 'https://localhost' }
        expectTwoTokens(await read(both(), forged))
      })

      it('C04 is refused beside another of its own name', async () => {
        const cookie = `${HOST_NAME}=${secretOf(other)}; ${HOST_NAME}=${secretOf(placed.user)}`
        expectTwoTokens(await read(cookie, HTTPS))
      })

      it('C04 is believed of no stranger who claims HTTPS', async () => {
        const direct = await open({ page: NO_BUILD })
        const user = await direct.createUser(0)
        const cookie = `access_token=wrong; ${HOST_NAME}=${secretOf(user)}`
        const asked = { path: '/users/me/capacity', headers: { cookie, ...HTTPS } }
        expectTwoTokens(await ask(direct, asked))
        await direct.stop()
      })
    })
  })

  describe('the cookies of a session', () => {
    const services = new Map<string, TestService>()
    beforeAll(async () => {
      for (const basePath of ['', '/a/b']) {
        const options = { page: NO_BUILD, trustedProxies: ['127.0.0.1'], basePath }
        services.set(basePath, await open(options))
      }
    })
    afterAll(() => Promise.all([...services.values()].map((service) => service.stop())))

    /** The cookies that an answer sets and expires, each as `name path`. */
    async function changedBy(
      method: 'POST' | 'DELETE',
      { headers = {}, basePath = '' }: { headers?: Record<string, string>; basePath?: string } = {},
    ) {
      const service = services.get(basePath)
      if (service === undefined) throw new Error('There is no such service.')
      const user = await service.createUser(0)
      const reply = await ask(service, {
        method,
        path: `${basePath}/session`,
        headers: { ...headers, 'Content-Type': 'application/json' },
        ...(method === 'POST' ? { body: `{"access_token":"${secretOf(user)}"}` } : {}),
      })
      expect(reply.status).toBe(204)
      return cookiesOf(reply)
    }

    const BELOW = [
      '/session',
      '/users',
      '/users/me',
      '/users/me/repo',
      '/users/me/access-tokens',
      '/users/me/history',
      '/users/me/links',
      '/users/me/uploads',
    ]
    const plain = (paths: readonly string[]) => paths.map((path) => `access_token ${path}`)

    it('are expired under both names and at the paths below when it ends', async () => {
      const { set, expired } = await changedBy('DELETE')
      expect(set).toEqual([])
      expect(expired).toEqual([`${HOST_NAME} /`, ...plain(['/', ...BELOW])])
    })

    it('are expired but for its own when it begins', async () => {
      const { set, expired } = await changedBy('POST')
      expect(set).toEqual(['access_token /'])
      expect(expired).toEqual([`${HOST_NAME} /`, ...plain(BELOW)])
    })

    it.each([
      ['a proxy that is trusted says so', HTTPS],
      ['the page came by it', { Origin: 'https://localhost', 'Sec-Fetch-Site': 'same-origin' }],
    ])('is of this host alone over HTTPS, where %s', async (_why, headers) => {
      const { set, expired, lines } = await changedBy('POST', { headers })
      expect(set).toEqual([`${HOST_NAME} /`])
      expect(expired).toEqual(plain(['/', ...BELOW]))
      for (const line of lines) expect(line).toMatch(/; HttpOnly; Secure; SameSite=Strict$/)
    })

    it('are plain under a base path, and expired above and below it', async () => {
      const options = { basePath: '/a/b', headers: HTTPS }
      const above = ['/', '/a']
      const below = BELOW.map((path) => `/a/b${path}`)
      const opened = await changedBy('POST', options)
      expect(opened.set).toEqual(['access_token /a/b'])
      expect(opened.expired).toEqual([`${HOST_NAME} /`, ...plain([...above, ...below])])
      const closed = await changedBy('DELETE', options)
      expect(closed.expired).toEqual([`${HOST_NAME} /`, ...plain([...above, '/a/b', ...below])])
    })

    it('are not taken for Secure by HTTP, and the name of this host alone never without', async () => {
      const { lines } = await changedBy('DELETE')
      for (const line of lines) {
        expect(line.includes('; Secure')).toBe(line.startsWith(HOST_NAME))
        expect(line).toContain('; HttpOnly')
      }
    })
  })
}

function cookiesOf(reply: RawExchange) {
  const lines = setCookiesOf(reply)
  const named = lines.map((line) => {
    const [, name = '', path = ''] = /^([^=]+)=.*?; Path=([^;]+)/.exec(line) ?? []
    return { cookie: `${name} ${path}`, isExpired: line.includes('Max-Age=0;') }
  })
  return {
    lines,
    set: named.filter(({ isExpired }) => !isExpired).map(({ cookie }) => cookie),
    expired: named.filter(({ isExpired }) => isExpired).map(({ cookie }) => cookie),
  }
}
