import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FAILED_ATTEMPT_POLICY } from '../../../src/core/auth/failed-attempt-limiter.ts'
import { NO_BUILD } from '../../support/http/page.ts'
import type {
  TestService,
  TestServiceOptions,
  TestUser,
} from '../../support/service/test-service.ts'
import { type RawExchange, rawRequest } from '../../support/http/raw-http.ts'
import {
  ask,
  download,
  expectProblem,
  jsonOf,
  type OpenService,
  placeFile,
  secretOf,
  setCookiesOf,
  SHORT_LINGER,
} from '../fixture.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const INVALID = { status: 403, code: 'access_token_invalid' } as const
const MONTH_SECONDS = 30 * 24 * 3600

/** How a browser is given an access token to keep, and forgets it. */
export function sessionSuite(open: OpenService): void {
  const openWithPage = (options?: TestServiceOptions) => open({ ...options, page: NO_BUILD })

  describe('a session', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await openWithPage({ trustedProxies: ['127.0.0.1'], ...SHORT_LINGER })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(1000)
    })

    it('is a cookie that no script reads and no other site has sent', async () => {
      const reply = await signIn(service, secretOf(user))
      const { status, body } = reply
      expect({ status, body: body.toString() }).toEqual({ status: 204, body: '' })
      expect(attributesOf(reply)).toEqual([
        `Max-Age=${MONTH_SECONDS}`,
        'Path=/',
        'HttpOnly',
        'SameSite=Strict',
      ])
    })

    it('is what a download takes for the access token', async () => {
      const placed = await placeFile(service)
      const [cookie = ''] = cookieOf(await signIn(service, secretOf(placed.user))).split(';')
      expect(cookie).toBe(placed.user.cookie)
      expect((await download(service, { headers: { cookie } })).body).toEqual(placed.content)
    })

    it('lives no longer than its token', async () => {
      const { secret } = await service.accessTokens.issue({
        userId: user.userId,
        label: '',
        expiresInSeconds: 600,
      })
      const line = cookieOf(await signIn(service, secret))
      const seconds = Number(/Max-Age=(\d+)/.exec(line)?.[1])
      expect(seconds).toBeLessThanOrEqual(600)
      expect(seconds).toBeGreaterThan(500)
    })

    it('is not, where a page came by HTTP', async () => {
      const more = { Origin: 'http://localhost', 'Sec-Fetch-Site': 'same-origin' }
      const reply = await signIn(service, secretOf(user), more)
      expect(attributesOf(reply)).not.toContain('Secure')
    })

    it('begins anew whatever cookie there was', async () => {
      const stale = { Cookie: 'access_token=crt_stale' }
      expect((await signIn(service, secretOf(user), stale)).status).toBe(204)
    })

    it('ends with the cookie, whether there was one or not, and the token stays good', async () => {
      for (const cookie of [{}, { Cookie: user.cookie }, { Cookie: 'access_token=wrong' }]) {
        const reply = await signOut(service, cookie)
        expect(reply.status).toBe(204)
        expect(setCookiesOf(reply)).toContain(
          'access_token=; Max-Age=0; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Strict',
        )
      }
      expect((await signIn(service, secretOf(user))).status).toBe(204)
    })

    it('is for no token but a good one, and sets nothing then', async () => {
      const revoked = await service.createUser(0)
      for (const { tokenId } of await service.accessTokens.list(revoked.userId)) {
        await service.accessTokens.revoke({ userId: revoked.userId, tokenId })
      }
      for (const secret of ['', 'wrong', `crt_${'A'.repeat(43)}`, 'a.b.c', secretOf(revoked)]) {
        const reply = await signIn(service, secret)
        expectProblem(reply, INVALID)
        expect(reply.headers['set-cookie']).toBeUndefined()
      }
    })

    it('is for no user who is suspended', async () => {
      await service.users.setUserStatus(user.userId, 'suspended')
      const reply = await signIn(service, secretOf(user))
      expectProblem(reply, { status: 403, code: 'user_suspended' })
    })

    it.each([
      ['no body', undefined, 'format_error'],
      ['no JSON', 'access_token=x', 'format_error'],
      ['no object', '["x"]', 'format_error'],
      ['no token', '{}', 'invalid_parameter'],
      ['a number', '{"access_token":5}', 'invalid_parameter'],
      ['an array', '{"access_token":["x"]}', 'invalid_parameter'],
      ['more', '{"access_token":"x","user_id":"y"}', 'invalid_parameter'],
    ] as const)('is refused with 400 for a body with %s', async (_what, body, code) => {
      const what = { method: 'POST', path: '/session', headers: JSON_TYPE }
      const reply = await ask(service, body === undefined ? what : { ...what, body })
      expectProblem(reply, { status: 400, code })
    })

    it.each([16 * 1024 + 1, '9007199254740992', '18446744073709551615'])(
      'is refused with 400 for a body of %s bytes, before it comes',
      async (length) => {
        const lines = ['Host: x', 'Content-Type: application/json', `Content-Length: ${length}`]
        const send = [['POST /session HTTP/1.1', ...lines, '', ''].join('\r\n')]
        const reply = await rawRequest({ port: service.port, send })
        expectProblem(reply, { status: 400, code: 'format_error' })
      },
    )

    it('is refused with 400 for a form, which any site could have sent', async () => {
      const headers = { 'Content-Type': 'text/plain' }
      const body = JSON.stringify({ access_token: secretOf(user) })
      const reply = await ask(service, { method: 'POST', path: '/session', headers, body })
      expectProblem(reply, { status: 400, code: 'format_error' })
    })

    it.each(['POST', 'DELETE'])(
      'is not changed for the page of another site: %s',
      async (method) => {
        for (const site of [
          { 'Sec-Fetch-Site': 'cross-site' },
          { Origin: 'https://evil.example' },
        ]) {
          const headers = { ...JSON_TYPE, ...site }
          const body = JSON.stringify({ access_token: secretOf(user) })
          const reply = await ask(service, { method, path: '/session', headers, body })
          expectProblem(reply, { status: 403, code: 'cross_site_request' })
          expect(reply.headers['set-cookie']).toBeUndefined()
        }
      },
    )

    it('is told whose it is, and that it permits everything', async () => {
      const reply = await ask(service, { path: '/session', user })
      expect(reply).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
      expect(reply.headers['set-cookie']).toBeUndefined()
      expect(jsonOf(reply)).toEqual({ user_id: user.userId, scope: null, expires_at: null })
      const headers = { Cookie: user.cookie }
      const head = await fetch(`${service.url}/session`, { method: 'HEAD', headers })
      expect(head.status).toBe(200)
      expect(head.headers.get('cache-control')).toBe('no-store')
      expect(await head.text()).toBe('')
    })
  })

  describe('a session without the page', () => {
    it('is told whose it is, and does not begin', async () => {
      const service = await open()
      const user = await service.createUser(0)
      expect(jsonOf(await ask(service, { path: '/session', user }))).toMatchObject({ scope: null })
      const begun = await signIn(service, secretOf(user))
      expectProblem(begun, { status: 405, code: 'method_not_allowed' })
      expect(begun.headers['allow']).toBe('GET, HEAD')
      await service.stop()
    })
  })

  describe('a session without a trusted proxy', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await openWithPage({ failedAttemptPolicy: FAILED_ATTEMPT_POLICY })
      user = await service.createUser(0)
    })
    afterAll(() => service.stop())

    it('is not by HTTPS because a stranger says so', async () => {
      const forged = { 'X-Forwarded-Proto': 'https', Forwarded: 'proto=https' }
      const reply = await signIn(service, secretOf(user), forged)
      expect(attributesOf(reply)).not.toContain('Secure')
    })

    it('is no way around the limit of guesses', async () => {
      for (let attempt = 0; attempt < FAILED_ATTEMPT_POLICY.maxFailedAttempts; attempt += 1) {
        expectProblem(await signIn(service, wrong()), INVALID)
      }
      const blocked = await signIn(service, wrong())
      expectProblem(blocked, { status: 429, code: 'too_many_requests' })
      expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(0)
      expect((await signIn(service, secretOf(user))).status).toBe(204)
    })
  })
}

function signIn(
  service: TestService,
  secret: string,
  {
    path = '/session',
    ...headers
  }: { readonly path?: string; readonly [name: string]: string } = {},
): Promise<RawExchange> {
  const body = JSON.stringify({ access_token: secret })
  return ask(service, { method: 'POST', path, headers: { ...JSON_TYPE, ...headers }, body })
}

function signOut(
  service: TestService,
  headers: Readonly<Record<string, string>>,
): Promise<RawExchange> {
  return ask(service, { method: 'DELETE', path: '/session', headers })
}

/** The one cookie that the answer sets; it may expire others. */
function cookieOf(reply: RawExchange): string {
  const [line, ...more] = setCookiesOf(reply).filter((line) => !line.includes('Max-Age=0;'))
  expect(more).toEqual([])
  return line ?? ''
}

function attributesOf(reply: RawExchange): readonly string[] {
  return cookieOf(reply).split('; ').slice(1)
}

function wrong(): string {
  return `crt_${randomBytes(32).toString('base64url')}`
}
