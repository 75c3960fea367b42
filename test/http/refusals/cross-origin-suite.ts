import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ADMIN_OPTIONS, ADMIN_TOKEN, send } from '../admin/fixture.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  ask,
  expectProblem,
  type OpenService,
  pathOf,
  type Placed,
  placeFile,
  type Reply,
  upload,
} from '../fixture.ts'

const APP = 'https://app.example.com'
const OTHER_APP = 'http://localhost:5173'
const REFUSED = { status: 403, code: 'cross_site_request' } as const

/** Origins that are not on the list, however much they look like one that is. */
const STRANGERS = [
  'https://evil.example',
  'null',
  '*',
  '',
  'http://app.example.com',
  'https://app.example.com:8443',
  'https://app.example.com/',
  'https://app.example.com.evil',
  'https://evil-app.example.com',
  'https://APP.example.com',
  `${APP}, https://evil.example`,
  `${APP} `.concat(APP),
]

/** What pages of other origins may do: nothing, or what those named by `ALLOWED_ORIGINS` may. */
export function crossOriginSuite(open: OpenService): void {
  describe('a page of another origin', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ allowedOrigins: [APP, OTHER_APP], ...ADMIN_OPTIONS })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service, { capacity: 1500 })
    })

    it.each(STRANGERS)(
      'a page of the origin %j writes nothing and reads no answer',
      async (origin) => {
        const { user } = placed
        const headers = { Origin: origin }
        const write = await upload(service, { user, content: 'new', headers })
        expectProblem(write, REFUSED)
        const read = await ask(service, { user, path: '/users/me/repo', headers })
        for (const reply of [write, read]) {
          expect(shared(reply)).toEqual({})
          expect(varies(reply)).toContain('Origin')
        }
      },
    )

    it.each(['POST', 'PUT'] as const)(
      'an allowed page may read what is said before and after 100 Continue of a %s',
      async (method) => {
        const headers = { Origin: APP, Expect: '100-continue' }
        const asked = { method, user: placed.user, headers }
        const taken = await upload(service, { ...asked, content: 'new' })
        expect(taken.all.map(({ status }) => status)).toEqual([100, 200])
        expect(taken.headers['access-control-allow-origin']).toBe(APP)
        const refused = await upload(service, { ...asked, content: Buffer.alloc(100_000) })
        expect(refused.all.map(({ status }) => status)).toEqual([403])
        expect(refused.headers['access-control-allow-origin']).toBe(APP)
      },
    )

    describe('that asks first', () => {
      const preflight = (
        path: string,
        { origin = APP, method = 'PUT', ...more }: Readonly<Record<string, string>> = {},
      ) => {
        const headers = { Origin: origin, 'Access-Control-Request-Method': method, ...more }
        return ask(service, { method: 'OPTIONS', path, headers })
      }

      it('is told the methods of the path, whatever it asks with', async () => {
        const path = '/users/me/repo/a?limit=5'
        for (const method of ['PUT', 'GET', 'TRACE', 'nonsense']) {
          const reply = await preflight(path, {
            method,
            'Access-Control-Request-Headers': 'x-evil, authorization',
            Cookie: 'access_token=wrong',
          })
          expect(reply).toMatchObject({ status: 204, body: Buffer.of() })
          expect(shared(reply)).toEqual({
            'access-control-allow-origin': APP,
            'access-control-allow-credentials': 'true',
            'access-control-expose-headers': expect.any(String) as string,
            'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
            'access-control-allow-headers':
              'Authorization, Content-Type, File-Metadata, If-Match, If-Modified-Since, ' +
              'If-None-Match, If-Range, If-Unmodified-Since, Last-Event-ID, Range, Repr-Digest, Tus-Resumable, Upload-Checksum, ' +
              'Upload-Concat, Upload-Defer-Length, Upload-Length, Upload-Metadata, Upload-Offset, ' +
              'Want-Repr-Digest, X-HTTP-Method-Override, X-Request-ID',
            'access-control-max-age': '7200',
          })
          expect(varies(reply)).toEqual(['Origin', 'Access-Control-Request-Method'])
        }
      })

      it.each(STRANGERS)('a preflight from %j is told nothing', async (origin) => {
        for (const path of ['/users/me/repo/a', '/users/me/repo', '/nothing', '/livez']) {
          const reply = await preflight(path, { origin })
          expectProblem(reply, REFUSED)
          expect(shared(reply)).toEqual({})
          expect(reply.headers['allow']).toBeUndefined()
          expect(varies(reply)).toContain('Origin')
        }
      })

      it('is told that nothing is there in an answer that it may read', async () => {
        const reply = await preflight('/nothing')
        expectProblem(reply, { status: 404, code: 'not_found' })
        expect(reply.headers['access-control-allow-origin']).toBe(APP)
        expect(reply.headers['access-control-allow-methods']).toBeUndefined()
      })

      it.each([
        ['without an origin', { 'Access-Control-Request-Method': 'PUT' }],
        ['without a method', { Origin: APP }],
        ['without either', {}],
      ])('a preflight %s gets what OPTIONS always gets', async (_what, headers) => {
        const ofFiles = { method: 'OPTIONS', path: '/users/me/repo', headers }
        const reply = await ask(service, ofFiles)
        expectProblem(reply, { status: 405, code: 'method_not_allowed' })
        expect(reply.headers['allow']).toBe('GET, HEAD')
        expect(reply.headers['access-control-allow-methods']).toBeUndefined()
        const nowhere = await ask(service, { ...ofFiles, path: '/nothing' })
        expectProblem(nowhere, { status: 404, code: 'not_found' })
      })
    })

    it('has no part in the admin API, not even an allowed one', async () => {
      const headers = { Origin: APP, 'Access-Control-Request-Method': 'GET' }
      const asked = await send(service, { method: 'OPTIONS', headers })
      expectProblem(asked, { status: 401, code: 'unauthorized' })
      const authorization = `Bearer ${ADMIN_TOKEN}`
      const known = await send(service, { method: 'GET', headers: { ...headers, authorization } })
      expect(known.status).toBe(200)
      const method = 'OPTIONS'
      const other = await send(service, { method, headers: { ...headers, authorization } })
      expectProblem(other, { status: 405, code: 'method_not_allowed' })
      const bad = await send(service, { method: 'GET', path: '/%zz', headers })
      for (const reply of [asked, known, other, bad]) expect(shared(reply)).toEqual({})
    })
  })

  describe('without allowed origins', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service, { capacity: 1500 })
    })

    it('a page that asks first is told nothing', async () => {
      const headers = { Origin: APP, 'Access-Control-Request-Method': 'PUT' }
      const path = '/users/me/repo/a'
      const reply = await ask(service, { method: 'OPTIONS', path, headers })
      expectProblem(reply, REFUSED)
      expect(shared(reply)).toEqual({})
    })

    it.each([
      ['GET', pathOf('file.bin'), ['Cookie', 'Authorization', 'Want-Repr-Digest']],
      ['GET', pathOf('absent'), ['Cookie', 'Authorization']],
      ['PUT', pathOf('file.bin'), ['Origin', 'Sec-Fetch-Site', 'Cookie', 'Authorization']],
      ['GET', '/livez', []],
    ])('the answer to %s %s depends on %j', async (method, path, headers) => {
      const { user } = placed
      const body = method === 'PUT' ? { body: 'new' } : {}
      expect(varies(await ask(service, { user, method, path, ...body }))).toEqual(headers)
    })

    it('a refusal of another site depends on what it was told by', async () => {
      const headers = { 'Sec-Fetch-Site': 'cross-site' }
      const reply = await upload(service, { user: placed.user, content: 'new', headers })
      expectProblem(reply, REFUSED)
      expect(varies(reply)).toEqual(['Origin', 'Sec-Fetch-Site'])
    })
  })
}

/** What an answer says to pages of other origins. */
function shared({ headers }: Reply): Record<string, string> {
  const said = Object.entries(headers).filter(([name]) => name.startsWith('access-control-'))
  return Object.fromEntries(said)
}

function varies({ headers }: Reply): string[] {
  return (headers['vary'] ?? '').split(', ').filter((name) => name !== '')
}
