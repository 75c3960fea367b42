import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  ask,
  download,
  expectNothingChanged,
  expectProblem,
  expectUntouched,
  MIB,
  type OpenService,
  pathOf,
  type Placed,
  placeFile,
  SHORT_LINGER,
  upload,
} from '../fixture.ts'

const INVALID = { status: 403, code: 'access_token_invalid' } as const
const MISSING = { status: 403, code: 'access_token_missing' } as const
const NOT_FOUND = { status: 404, code: 'not_found' } as const
const SUSPENDED = { status: 403, code: 'user_suspended' } as const
const CROSS_SITE = { status: 403, code: 'cross_site_request' } as const

/** Rows C01 to C07 of the list of bad input: who may do what. See also `two-tokens-suite.ts` and `origin-suite.ts`. */
export function accessSuite(open: OpenService): void {
  describe('access', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ allowedOrigins: ['https://app.example.com'], ...SHORT_LINGER })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it('C03 an invalid token is refused where no token would do', async () => {
      const { user } = placed
      await upload(service, { user, name: 'open', query: '?visibility=public', content: 'a' })
      const file = { owner: user.userId, name: 'open' }
      const headers = { cookie: 'access_token=wrong' }
      expectProblem(await download(service, { ...file, headers }), INVALID)
      expect((await download(service, file)).status).toBe(200)
      const other = { cookie: 'session=x; other=access_token' }
      expect((await download(service, { ...file, headers: other })).status).toBe(200)
    })

    it('C05 another user sees of a private file what nobody sees', async () => {
      const user = await service.createUser(MIB)
      const owner = placed.user.userId
      for (const viewer of [{ user }, {}]) {
        expectProblem(await download(service, { ...viewer, owner }), NOT_FOUND)
      }
    })

    it('C02 a revoked token is refused', async () => {
      const { userId } = placed.user
      const { cookie, tokenId } = await addToken(service, placed.user)
      expect((await download(service, { headers: { cookie } })).status).toBe(200)
      await service.users.revokeAccessToken({ userId, tokenId })
      expectProblem(await upload(service, { content: 'new', headers: { cookie } }), INVALID)
      await expectUntouched(service, placed)
    })

    it('C02 an expired token is refused', async () => {
      const { cookie } = await addToken(service, placed.user, 1)
      await delay(20)
      expectProblem(await upload(service, { content: 'new', headers: { cookie } }), INVALID)
      await expectUntouched(service, placed)
    })

    it('C02 a suspended user can neither upload nor download, and is as before when active again', async () => {
      const { user } = placed
      await service.users.setUserStatus(user.userId, 'suspended')
      expectProblem(await upload(service, { user, content: 'new' }), SUSPENDED)
      expectProblem(await download(service, { user }), SUSPENDED)
      await service.users.setUserStatus(user.userId, 'active')
      await expectUntouched(service, placed)
    })

    it('the public files of a suspended user are found by nobody', async () => {
      const { user } = placed
      await upload(service, { user, query: '?visibility=public', content: 'a' })
      await service.users.setUserStatus(user.userId, 'suspended')
      expectProblem(await download(service, { owner: user.userId }), NOT_FOUND)
    })

    it('C02 a deleted user is refused, and a sweep removes all objects', async () => {
      const { user } = placed
      await upload(service, { user, query: '?visibility=public', content: 'a' })
      await service.users.deleteUser(user.userId)
      expectProblem(await upload(service, { user, content: 'new' }), INVALID)
      expectProblem(await download(service, { user }), INVALID)
      expectProblem(await download(service, { owner: user.userId }), NOT_FOUND)
      await service.sweep()
      // What a sweep makes garbage, the next one removes.
      await service.sweep()
      expect(await service.storedKeys(user)).toEqual([])
    })
  })
}

/** Whoever is refused above the ports: nothing is called that could change anything. */
export function refusedAccessSuite(open: OpenService): void {
  describe('access that is refused', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ allowedOrigins: ['https://app.example.com'], ...SHORT_LINGER })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it('C01 without a cookie no upload is taken and the file stays (I2)', async () => {
      expectProblem(await upload(service, { content: 'new' }), MISSING)
      expectNothingChanged(service, placed)
    })

    it.each(badCookies())(
      'C01 C03 with %s neither upload nor download is let in',
      async (_what, cookie) => {
        const headers = { cookie }
        expectProblem(await upload(service, { content: 'new', headers }), INVALID)
        const owner = placed.user.userId
        expectProblem(await download(service, { owner, headers }), INVALID)
        expectProblem(await download(service, { headers }), INVALID)
        expect((await download(service, { headers, method: 'HEAD' })).status).toBe(403)
        expectNothingChanged(service, placed)
      },
    )

    it('I9 a client without a token can read so after it has sent 5 MB', async () => {
      const content = Buffer.alloc(5 * MIB)
      const reply = await upload(service, { content, readLate: true })
      expectProblem(reply, MISSING)
      expect(reply.closed).toBe(true)
    })

    it('C05 nobody writes to the path of another user', async () => {
      const other = await service.createUser(MIB)
      const { userId } = placed.user
      const path = `/users/${userId}/repo/file.bin`
      const reply = await upload(service, { user: other, path, content: 'new' })
      expectProblem(reply, { status: 405, code: 'method_not_allowed' })
      expect(reply.headers['allow']).toBe('GET, HEAD')
      await expectUntouched(service, placed)
    })

    describe('C07 a write', () => {
      it.each([
        ['of another site', { 'Sec-Fetch-Site': 'cross-site' }],
        ['of another host of the site', { 'Sec-Fetch-Site': 'same-site' }],
        ['of an unknown kind', { 'Sec-Fetch-Site': 'nonsense' }],
        ['of another origin', { Origin: 'https://evil.example' }],
        ['of no origin', { Origin: 'null' }],
        ['of the origin of another port', { Origin: 'http://localhost:81' }],
        [
          'of an origin that begins like an allowed one',
          { Origin: 'https://app.example.com.evil' },
        ],
        [
          'of the own origin by another site',
          { Origin: 'http://localhost', 'Sec-Fetch-Site': 'cross-site' },
        ],
      ])('%s is refused and changes nothing (I2)', async (_what, headers) => {
        const { user } = placed
        expectProblem(await upload(service, { user, content: 'new', headers }), CROSS_SITE)
        expectNothingChanged(service, placed)
      })

      it.each([
        ['of no browser', {}],
        ['of the own pages', { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://localhost' }],
        ['of the user', { 'Sec-Fetch-Site': 'none' }],
        ['of the own origin', { Origin: 'http://localhost' }],
        ['of an allowed origin', { Origin: 'https://app.example.com' }],
        [
          'of an allowed origin in a new browser',
          { Origin: 'https://app.example.com', 'Sec-Fetch-Site': 'cross-site' },
        ],
      ])('%s is taken', async (_what, headers) => {
        const { user } = placed
        expect((await upload(service, { user, content: 'new', headers })).status).toBe(200)
      })
    })

    it('C07 a download is answered wherever the link to it stands', async () => {
      const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
      expect((await download(service, { user: placed.user, headers })).status).toBe(200)
    })

    it.each(['/', '/users', '/users/me', '/favicon.ico', '/..'])(
      'an unknown path such as %s is a problem',
      async (path) => {
        for (const method of ['GET', 'POST', 'DELETE']) {
          expectProblem(await ask(service, { user: placed.user, path, method }), NOT_FOUND)
        }
      },
    )

    it('a method that the router does not know is 404', async () => {
      const { user } = placed
      const reply = await ask(service, { user, method: 'PROPFIND', path: pathOf('file.bin') })
      expectProblem(reply, NOT_FOUND)
    })

    it.each([
      ['POST', '/nowhere', 'application/json'],
      ['POST', '/livez', 'text/plain'],
      ['PATCH', '/users/me/repo', 'application/json'],
    ])('%s %s is told at once that nothing is there, whatever its body', async (...row) => {
      const [method, path, type] = row
      const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n`
      const send = [`${head}Content-Length: 1000000\r\n\r\n{`]
      const reply = await rawRequest({ port: service.port, send, timeoutMs: 5_000 })
      expect([404, 405]).toContain(reply.status)
      expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
    })
  })
}

function badCookies(): [what: string, cookie: string][] {
  return [
    ['an empty token', 'access_token='],
    ['garbage', 'access_token=%00%ff{}'],
    ['8 KB of garbage', `access_token=${'x'.repeat(8000)}`],
    ['an unknown token', `access_token=crt_${'A'.repeat(43)}`],
    ['a token in quotes', 'access_token=""'],
    ['SQL', "access_token=' OR 1=1 --"],
  ]
}

/** Another token of a user, of which the test knows everything. */
async function addToken(
  service: TestService,
  { userId }: TestUser,
  expiresInMs?: number,
): Promise<{ readonly cookie: string; readonly tokenId: string }> {
  const secret = `crt_${randomBytes(32).toString('base64url')}`
  const sha256 = createHash('sha256').update(secret).digest('hex')
  const tokenId = randomUUID()
  await service.users.addAccessToken({
    userId,
    tokenId,
    sha256,
    label: 'test',
    expiresInMs,
    scope: undefined,
    parent: undefined,
  })
  return { cookie: `access_token=${secret}`, tokenId }
}
