import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { GUESS_POLICY } from '../../src/core/guess-count.ts'
import { expectProblem, type OpenService, type Reply } from '../http/fixture.ts'
import { NO_BUILD } from '../support/page.ts'
import type { TestService } from '../support/test-service.ts'
import { ADMIN_OPTIONS, ADMIN_TOKEN, type Call, call, send } from './fixture.ts'

const UNAUTHORIZED = { status: 401, code: 'unauthorized' } as const
const COOKIE = { cookie: `admin_token=${ADMIN_TOKEN}` }
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
      expect(String(headers['set-cookie'])).toBe(
        `admin_token=${ADMIN_TOKEN}; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict`,
      )
      expect(headers['cache-control']).toBe('no-store')
    })

    it.each([
      ['a proxy that is trusted says so', { 'x-forwarded-proto': 'https' }],
      ['the page came by it', { origin: 'https://127.0.0.1', 'sec-fetch-site': 'same-origin' }],
    ])('is sent by HTTPS alone where %s', async (_why, more) => {
      expect(String((await signIn(ADMIN_TOKEN, more)).headers['set-cookie'])).toContain('; Secure')
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
      const stale = { cookie: 'admin_token=stale' }
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
        const headers = { cookie: `admin_token=${token}` }
        expectProblem(await send(service, { method: 'GET', headers }), UNAUTHORIZED)
      },
    )

    it('is no cookie of a user, nor one of another name', async () => {
      for (const name of ['access_token', 'ADMIN_TOKEN', 'admin-token']) {
        const headers = { cookie: `${name}=${ADMIN_TOKEN}` }
        expectProblem(await send(service, { method: 'GET', headers }), UNAUTHORIZED)
      }
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

    it('tells a page of another site nothing that it could read', async () => {
      const origin = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
      const { headers } = await send(service, { method: 'GET', headers: { ...COOKIE, ...origin } })
      expect(headers['access-control-allow-origin']).toBeUndefined()
      expect(headers['cross-origin-resource-policy']).toBe('same-origin')
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
      for (const headers of [{}, COOKIE, { cookie: 'admin_token=wrong' }]) {
        const reply = await send(service, { method: 'DELETE', at: '/session', headers })
        expect(reply.status).toBe(204)
        expect(String(reply.headers['set-cookie'])).toMatch(/^admin_token=; Max-Age=0; Path=\//)
      }
    })

    it.each([
      ['no body', undefined, 'invalid_parameter'],
      ['no JSON', 'admin_token=x', 'format_error'],
      ['a number', '{"admin_token":5}', 'invalid_parameter'],
      ['more', '{"admin_token":"x","user_id":"y"}', 'invalid_parameter'],
    ] as const)('is refused with 400 for a body with %s', async (_what, raw, code) => {
      const body = raw === undefined ? {} : { raw }
      const reply = await send(service, { method: 'POST', at: '/session', ...body })
      expectProblem(reply, { status: 400, code })
    })

    it('has no other method', async () => {
      const reply = await send(service, { method: 'GET', at: '/session' })
      expectProblem(reply, { status: 405, code: 'method_not_allowed' })
      expect(reply.headers['allow']).toBe('POST, DELETE')
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

    it.each<[string, (service: TestService, token: string) => Promise<Reply>]>([
      [
        'signing in',
        (service, token) =>
          send(service, { method: 'POST', at: '/session', body: { admin_token: token } }),
      ],
      [
        'the cookie',
        (service, token) =>
          send(service, { method: 'GET', headers: { cookie: `admin_token=${token}` } }),
      ],
    ])('is limited as by the bearer token: %s', async (_how, show) => {
      service = await open({ ...ADMIN_OPTIONS, operatorPage: NO_BUILD, guessPolicy: GUESS_POLICY })
      for (let guess = 0; guess < GUESS_POLICY.maxGuesses; guess += 1) {
        expectProblem(await show(service, `wrong-${guess}`), UNAUTHORIZED)
      }
      expectProblem(await show(service, 'wrong'), { status: 429, code: 'too_many_requests' })
      expect([200, 204]).toContain((await show(service, ADMIN_TOKEN)).status)
    })
  })

  describe('admin: without the page', () => {
    it('there is no session, and no cookie is looked at', async () => {
      const service = await open(ADMIN_OPTIONS)
      try {
        expectProblem(await send(service, { method: 'GET', headers: COOKIE }), UNAUTHORIZED)
        for (const at of ['/', '/session', '/assets/x.js']) {
          expectProblem(await send(service, { method: 'GET', at }), UNAUTHORIZED)
          expectProblem(await call(service, { method: 'GET', at }), {
            status: 404,
            code: 'not_found',
          })
        }
        const document = await call(service, { method: 'GET', at: '/openapi.json' })
        expect(document.body.toString()).not.toContain('"/session"')
      } finally {
        await service.stop()
      }
    })
  })
}
