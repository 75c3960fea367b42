import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { FAILED_ATTEMPT_POLICY } from '../../../src/core/auth/failed-attempt-limiter.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { expectProblem, jsonOf, type OpenService, type Reply } from '../fixture.ts'
import { NO_BUILD } from '../../support/http/page.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  ADMIN_OPTIONS,
  ADMIN_TOKEN,
  type Call,
  call,
  expiredCookie,
  send,
  sessionCookie,
} from './fixture.ts'

const UNAUTHORIZED = { status: 401, code: 'unauthorized' } as const
const COOKIE = { cookie: sessionCookie() }
const FOREIGN = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
] as const

/** One write of each method. */
const WRITES: readonly Call[] = [
  { method: 'POST' },
  { method: 'PUT', path: '/eve' },
  { method: 'PATCH', path: '/eve', body: { status: 'suspended' } },
  { method: 'DELETE', path: '/eve' },
]

/** How a browser signs in to the admin listener, and what its cookie is good for. */
export function adminSessionSuite(open: OpenService): void {
  describe('admin: a session', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open({
        ...ADMIN_OPTIONS,
        operatorPage: NO_BUILD,
        trustedProxies: ['127.0.0.1'],
      })
    })
    afterAll(() => service.stop())

    const signIn = (token: unknown, headers = {}) =>
      send(service, { method: 'POST', at: '/session', body: { admin_token: token }, headers })

    it('is a cookie that no script reads and no other site has sent, for twelve hours', async () => {
      const { status, headers, body } = await signIn(ADMIN_TOKEN)
      expect({ status, body: body.toString() }).toEqual({ status: 204, body: '' })
      expect(cookiesOf(headers).set).toEqual([
        expect.stringMatching(
          /^admin_session=\d{10}\.[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
        ),
      ])
      expect(String(headers['set-cookie'])).not.toContain(ADMIN_TOKEN)
      expect(headers['cache-control']).toBe('no-store')
    })

    it.each([
      ['a proxy that is trusted says so', { 'x-forwarded-proto': 'https' }],
      ['the page came by it', { origin: 'https://127.0.0.1', 'sec-fetch-site': 'same-origin' }],
    ])('is of this host alone and sent by HTTPS alone where %s', async (_why, more) => {
      const { set, expired } = cookiesOf((await signIn(ADMIN_TOKEN, more)).headers)
      expect(set).toEqual([
        expect.stringMatching(
          /^__Host-admin_session=.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
        ),
      ])
      expect(expired).toEqual([expect.stringMatching(/^admin_session=;/)])
      const headers = { cookie: String(set[0]?.split(';', 1)) }
      expect((await send(service, { method: 'GET', headers })).status).toBe(200)
    })

    it('is what signing in has set', async () => {
      const [cookie = ''] = cookiesOf((await signIn(ADMIN_TOKEN)).headers).set
      const headers = { cookie: String(cookie.split(';', 1)) }
      expect((await send(service, { method: 'GET', headers })).status).toBe(200)
    })

    it('ends after twelve hours, whatever the browser does with the cookie', async () => {
      const late = { cookie: sessionCookie({ secondsAgo: 12 * 3600 - 60 }) }
      expect((await send(service, { method: 'GET', headers: late })).status).toBe(200)
      const headers = { cookie: expiredCookie() }
      const refused = await send(service, { method: 'PUT', path: '/eve', headers })
      expectProblem(refused, UNAUTHORIZED)
    })

    it('is good beside one that a page of another port has planted', async () => {
      for (const planted of ['admin_session=planted', '__Host-admin_session=planted']) {
        for (const cookie of [`${planted}; ${COOKIE.cookie}`, `${COOKIE.cookie}; ${planted}`]) {
          expect((await send(service, { method: 'GET', headers: { cookie } })).status).toBe(200)
        }
      }
    })

    it('does what the bearer token does', async () => {
      const made = await send(service, { method: 'PUT', path: '/carol', headers: COOKIE })
      expect(made.status).toBe(201)
      const read = await send(service, { method: 'GET', path: '/carol', headers: COOKIE })
      expect(read.status).toBe(200)
      expect((await send(service, { method: 'GET', at: '/metrics', headers: COOKIE })).status).toBe(
        200,
      )
    })

    it('is not looked at where a bearer token is shown', async () => {
      const headers = { ...COOKIE, authorization: 'Bearer wrong' }
      expectProblem(await send(service, { method: 'GET', headers }), UNAUTHORIZED)
      const stale = { cookie: 'admin_session=stale' }
      expect((await call(service, { method: 'GET', headers: stale })).status).toBe(200)
    })

    it('is looked at beside what a proxy in front wants to know', async () => {
      const basic = { authorization: 'Basic eDp5' }
      const headers = { ...COOKIE, ...basic }
      expect((await send(service, { method: 'GET', headers })).status).toBe(200)
      const [site] = FOREIGN
      const foreign = { method: 'PUT', path: '/eve', headers: { ...headers, ...site } }
      expectProblem(await send(service, foreign), { status: 403, code: 'cross_site_request' })
      expectProblem(await send(service, { method: 'GET', headers: basic }), UNAUTHORIZED)
    })

    it.each(['wrong', '', ADMIN_TOKEN.slice(1), `${ADMIN_TOKEN}x`])(
      'is for no token but the right one, and sets nothing then: %j',
      async (token) => {
        const reply = await signIn(token)
        expectProblem(reply, UNAUTHORIZED)
        expect(reply.headers['set-cookie']).toBeUndefined()
      },
    )

    it.each([
      ['nothing', ''],
      ['the admin token itself', ADMIN_TOKEN],
      ['a session of another admin token', valueOf(sessionCookie({ token: `${ADMIN_TOKEN}x` }))],
      ['a later end', valueOf(COOKIE.cookie).replace(/^\d/, '9')],
    ])("is nobody's with %s in its cookie", async (_what, value) => {
      for (const name of ['admin_session', '__Host-admin_session']) {
        const headers = { cookie: `${name}=${value}` }
        expectProblem(await send(service, { method: 'GET', headers }), UNAUTHORIZED)
      }
    })

    it('is no cookie of a user, nor one of another name', async () => {
      for (const name of ['access_token', 'admin_token', 'ADMIN_SESSION', 'admin-session']) {
        for (const value of [ADMIN_TOKEN, valueOf(COOKIE.cookie)]) {
          const headers = { cookie: `${name}=${value}` }
          expectProblem(await send(service, { method: 'GET', headers }), UNAUTHORIZED)
        }
      }
    })

    it('is no bearer token', async () => {
      const headers = { authorization: `Bearer ${valueOf(COOKIE.cookie)}` }
      expectProblem(await send(service, { method: 'GET', headers }), UNAUTHORIZED)
    })

    it.each(WRITES.map((write) => [write.method, write] as const))(
      'writes nothing for the page of another site: %s',
      async (_method, write) => {
        for (const site of FOREIGN) {
          const reply = await send(service, { ...write, headers: { ...COOKIE, ...site } })
          expectProblem(reply, { status: 403, code: 'cross_site_request' })
        }
        const { status } = await call(service, { method: 'GET', path: '/eve' })
        expect(status).toBe(404)
      },
    )

    it('writes for its own page, and a bearer token for whoever has it', async () => {
      const { adminPort } = service
      const own = { origin: `http://127.0.0.1:${adminPort}`, host: `127.0.0.1:${adminPort}` }
      const headers = { ...COOKIE, ...own }
      expect((await send(service, { method: 'PUT', path: '/dave', headers })).status).toBe(201)
      for (const site of FOREIGN) {
        const reply = await call(service, { method: 'PUT', path: '/dave', headers: site })
        expect(reply.status).toBe(200)
      }
    })

    it('reads nothing for the page of another site, and nothing is recorded', async () => {
      await service.users.createUser(parseUserId('read'))
      const reads = [
        { method: 'GET' },
        { method: 'GET', path: '/read/archive' },
        { method: 'GET', at: '/metrics' },
        { method: 'GET', at: '/openapi.json' },
      ]
      const known = async () => {
        const { body } = await call(service, { method: 'GET', at: '/admin/audit' })
        return body
      }
      const before = await known()
      for (const site of FOREIGN) {
        for (const read of reads) {
          const reply = await send(service, { ...read, headers: { ...COOKIE, ...site } })
          expect(reply.status).toBe(403)
        }
      }
      expect(await known()).toEqual(before)
      for (const site of ['same-origin', 'none']) {
        const headers = { ...COOKIE, 'sec-fetch-site': site }
        for (const read of reads)
          expect((await send(service, { ...read, headers })).status).toBe(200)
      }
      expect(await known()).not.toEqual(before)
    })

    it.each(['POST', 'DELETE'])('begins and ends for no other site: %s', async (method) => {
      for (const site of FOREIGN) {
        const body = method === 'POST' ? { body: { admin_token: ADMIN_TOKEN } } : {}
        const reply = await send(service, { method, at: '/session', headers: site, ...body })
        expectProblem(reply, { status: 403, code: 'cross_site_request' })
        expect(reply.headers['set-cookie']).toBeUndefined()
      }
    })

    it('ends with the cookie, whether there was one or not', async () => {
      for (const headers of [{}, COOKIE, { cookie: 'admin_session=wrong' }]) {
        const reply = await send(service, { method: 'DELETE', at: '/session', headers })
        expect(reply.status).toBe(204)
        expect(cookiesOf(reply.headers)).toEqual({
          set: [],
          expired: [
            expect.stringMatching(/^__Host-admin_session=; Max-Age=0; Path=\/;.*; Secure/),
            expect.stringMatching(/^admin_session=; Max-Age=0; Path=\//),
          ],
        })
      }
    })

    it.each([
      ['no body', undefined, 'invalid_parameter'],
      ['no JSON', 'admin_token=x', 'format_error'],
      ['a number', '{"admin_token":5}', 'invalid_parameter'],
      ['an array', '{"admin_token":["x"]}', 'invalid_parameter'],
      ['more', '{"admin_token":"x","user_id":"y"}', 'invalid_parameter'],
    ] as const)('is refused with 400 for a body with %s', async (_what, raw, code) => {
      const body = raw === undefined ? {} : { raw }
      const reply = await send(service, { method: 'POST', at: '/session', ...body })
      expectProblem(reply, { status: 400, code })
    })

    it('leaves whatever else there is behind the token', async () => {
      for (const at of ['/admin/users', '/metrics', '/openapi.json', '/docs', '/none', '/x/y']) {
        expectProblem(await send(service, { method: 'GET', at }), UNAUTHORIZED)
      }
    })
  })

  describe('admin: guessing by the session', () => {
    let service: TestService
    afterEach(() => service.stop())

    it.each<[string, (token: string) => Call, right: Call]>([
      ['signing in', signingIn, signingIn(ADMIN_TOKEN)],
      ['the cookie', (token) => reading(`admin_session=${token}`), reading(sessionCookie())],
    ])('is limited as by the bearer token: %s', async (_how, show, right) => {
      service = await open(GUESSED)
      for (let attempt = 0; attempt < FAILED_ATTEMPT_POLICY.maxFailedAttempts; attempt += 1) {
        expectProblem(await send(service, show(`wrong-${attempt}`)), UNAUTHORIZED)
      }
      const blocked = await send(service, show('wrong'))
      expectProblem(blocked, { status: 429, code: 'too_many_requests' })
      expect([200, 204]).toContain((await send(service, right)).status)
    })

    it('counts no session that was good once, so that nobody is locked out by an old tab', async () => {
      service = await open(GUESSED)
      for (let request = 0; request < 2 * FAILED_ATTEMPT_POLICY.maxFailedAttempts; request += 1) {
        expectProblem(await send(service, reading(expiredCookie())), UNAUTHORIZED)
      }
      expectProblem(await send(service, signingIn('wrong')), UNAUTHORIZED)
    })

    it('counts one guess where a planted cookie comes beside a session that was good once', async () => {
      service = await open(GUESSED)
      const cookie = `admin_session=planted; ${expiredCookie()}`
      for (let attempt = 0; attempt < FAILED_ATTEMPT_POLICY.maxFailedAttempts; attempt += 1) {
        expectProblem(await send(service, reading(cookie)), UNAUTHORIZED)
      }
      const blocked = await send(service, reading(cookie))
      expectProblem(blocked, { status: 429, code: 'too_many_requests' })
    })
  })

  describe('admin: without the page', () => {
    it('nobody signs in, and no cookie is looked at', async () => {
      const service = await open(ADMIN_OPTIONS)
      try {
        expectProblem(await send(service, { method: 'GET', headers: COOKIE }), UNAUTHORIZED)
        for (const at of ['/', '/assets/x.js']) {
          expectProblem(await send(service, { method: 'GET', at }), UNAUTHORIZED)
          expectProblem(await call(service, { method: 'GET', at }), {
            status: 404,
            code: 'not_found',
          })
        }
        const document = await call(service, { method: 'GET', at: '/openapi.json' })
        const { paths } = jsonOf(document) as { readonly paths: Record<string, object> }
        expect(Object.keys(paths['/session'] ?? {})).toEqual(['get'])
        const own = await call(service, { method: 'GET', at: '/session' })
        expect(jsonOf(own)).toEqual({ operator: null, role: 'admin' })
        expectProblem(await call(service, signingIn(ADMIN_TOKEN)), {
          status: 405,
          code: 'method_not_allowed',
        })
      } finally {
        await service.stop()
      }
    })
  })
}

const GUESSED = {
  ...ADMIN_OPTIONS,
  operatorPage: NO_BUILD,
  failedAttemptPolicy: FAILED_ATTEMPT_POLICY,
}

function signingIn(token: string): Call {
  return { method: 'POST', at: '/session', body: { admin_token: token } }
}

function reading(cookie: string): Call {
  return { method: 'GET', headers: { cookie } }
}

/** The lines by which an answer sets cookies and expires them. Node lists them. */
function cookiesOf(headers: Reply['headers']) {
  const lines = [headers['set-cookie'] ?? []].flat()
  const isExpiry = (line: string): boolean => line.includes('Max-Age=0;')
  return { set: lines.filter((line) => !isExpiry(line)), expired: lines.filter(isExpiry) }
}

function valueOf(cookie: string): string {
  return cookie.slice(cookie.indexOf('=') + 1)
}
