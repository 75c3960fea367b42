import { type Logger, pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { createJwtVerifier } from '../../src/jwt/jwt-verifier.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import {
  type IdentityProvider,
  type Signed,
  startIdentityProvider,
} from '../support/servers/identity-provider.ts'
import { NO_BUILD } from '../support/http/page.ts'
import type { TestService } from '../support/service/test-service.ts'
import { ask, download, expectProblem, jsonOf, MIB, setCookiesOf, upload } from './fixture.ts'

const alice = parseUserId('alice')
const INVALID = { status: 403, code: 'access_token_invalid' } as const

let provider: IdentityProvider
let services: TestService[] = []

beforeAll(async () => {
  provider = await startIdentityProvider()
  await provider.addKey('key')
})
afterAll(() => provider.stop())
afterEach(async () => {
  await Promise.all(services.map((service) => service.stop()))
  services = []
})

interface OpenOptions {
  readonly createsUsers?: boolean
  readonly scopeClaim?: string
  readonly logger?: Logger
  /** Of the keys. */
  readonly clock?: () => number
}

async function open(given: OpenOptions = {}): Promise<TestService> {
  const { createsUsers = false, scopeClaim, clock, ...options } = given
  const warn = (err: unknown, message: string): void => options.logger?.warn({ err }, message)
  const keys = { ...provider, scopeClaim, timeoutMs: 300, warn, ...(clock && { clock }) }
  const service = await openEmbedded({
    ...options,
    // Users who appear by themselves have no grants, and store no file without capacity.
    ...(createsUsers && { baseCapacity: MIB }),
    jwt: { verifier: createJwtVerifier(keys), createsUsers },
    page: NO_BUILD,
  })
  services.push(service)
  return service
}

async function openLogged(options: Pick<OpenOptions, 'clock'> = {}) {
  const lines: string[] = []
  const logger = pino({}, { write: (line) => void lines.push(line) })
  const service = await open({ ...options, logger })
  return { service, logged: (text: string) => lines.filter((line) => line.includes(text)) }
}

const JSON_TYPE = { 'Content-Type': 'application/json' }

function claim(sub: string | undefined): Partial<Signed> {
  return { claims: { sub } }
}

async function cookieOf(claims: Readonly<Record<string, unknown>> = {}) {
  return { cookie: `access_token=${await provider.sign({ kid: 'key', claims })}` }
}

describe('a JWT as the access token', () => {
  it('uploads and downloads as the user of its sub', async () => {
    const service = await open()
    const user = await service.createUser(MIB)
    const headers = await cookieOf({ sub: user.userId })
    expect((await upload(service, { headers, content: 'hello' })).status).toBe(200)
    expect((await download(service, { headers })).body.toString()).toBe('hello')
    expect((await download(service, { user })).body.toString()).toBe('hello')
  })

  it('a JWT of an unknown user is invalid, unless users appear by themselves', async () => {
    const closed = await open()
    expectProblem(await upload(closed, { headers: await cookieOf(), content: '' }), INVALID)
    expect(await closed.users.findUser(alice)).toBeUndefined()
    const service = await open({ createsUsers: true })
    const headers = await cookieOf()
    expect((await upload(service, { headers, content: '' })).status).toBe(200)
    expect(await service.users.findUser(alice)).toMatchObject({ status: 'active' })
  })

  it('a JWT that has expired, or that nobody signed, is refused with and without need of a token', async () => {
    const service = await open({ createsUsers: true })
    const { cookie } = await cookieOf()
    const expired = await cookieOf({ exp: 1_000_000 })
    for (const headers of [expired, { cookie: cookie.replace(/[^.]+$/, 'AAAA') }]) {
      expectProblem(await upload(service, { headers, content: '' }), INVALID)
      expectProblem(await download(service, { headers, owner: 'alice' }), INVALID)
    }
    expect(await service.users.findUser(alice)).toBeUndefined()
  })

  it('is kept by a browser for as long as it is good', async () => {
    const service = await open({ createsUsers: true })
    const exp = Math.floor(Date.now() / 1000) + 600
    const { cookie } = await cookieOf({ exp })
    const reply = await ask(service, {
      method: 'POST',
      path: '/session',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ access_token: cookie.slice('access_token='.length) }),
    })
    const [, maxAge] = /Max-Age=([1-9]\d*)/.exec(setCookiesOf(reply).join('\n')) ?? []
    expect(reply.status).toBe(204)
    expect(Number(maxAge)).toBeGreaterThan(500)
    // With what clocks may differ by.
    expect(Number(maxAge)).toBeLessThanOrEqual(605)
  })

  it('a JWT of a suspended user is refused', async () => {
    const service = await open({ createsUsers: true })
    const headers = await cookieOf()
    expect((await upload(service, { headers, content: '' })).status).toBe(200)
    await service.users.setUserStatus(alice, 'suspended')
    const reply = await download(service, { headers })
    expectProblem(reply, { status: 403, code: 'user_suspended' })
  })

  it('leaves no link and no token beyond a suspension of its user', async () => {
    const service = await open()
    const user = await service.createUser(MIB)
    await upload(service, { user, name: 'f', content: 'hello' })
    const headers = { ...JSON_TYPE, ...(await cookieOf({ sub: user.userId })) }
    const make = async (path: string, body: object, more = headers) => {
      const sent = { method: 'POST', path, headers: more, body: JSON.stringify(body) }
      return jsonOf(await ask(service, sent))
    }
    const another = await cookieOf({ sub: user.userId, session: 2 })
    const link = { kind: 'download', name: 'f' }
    const { access_token: made, expires_at } = await make('/users/me/access-tokens', {})
    expect(expires_at).toBeNull()
    const ofMade = { ...JSON_TYPE, cookie: `access_token=${String(made)}` }
    const { secret: own } = await make('/users/me/links', link, { ...JSON_TYPE, ...user })
    const secrets = [
      (await make('/users/me/links', link))['secret'],
      (await make('/users/me/links', link, ofMade))['secret'],
      // Of a JWT that has made nothing else.
      (await make('/users/me/links', link, { ...headers, ...another }))['secret'],
    ]
    const statusOf = async (secret: unknown) =>
      (await ask(service, { path: `/links/${String(secret)}/f` })).status
    const statuses = () => Promise.all([...secrets, own].map(statusOf))
    expect(await statuses()).toEqual([200, 200, 200, 200])
    await service.users.setUserStatus(user.userId, 'suspended')
    expect(await statuses()).toEqual([404, 404, 404, 404])
    await service.users.setUserStatus(user.userId, 'active')
    expect(await statuses()).toEqual([404, 404, 404, 200])
    expectProblem(await download(service, { headers: ofMade, name: 'f' }), INVALID)
    expect((await download(service, { user, name: 'f' })).body.toString()).toBe('hello')
  })

  it('is undecided while the identity provider is out of reach, and issued tokens work', async () => {
    const service = await open({ createsUsers: true })
    const user = await service.createUser(MIB)
    await provider.stop()
    try {
      const reply = await upload(service, { headers: await cookieOf(), content: '' })
      expectProblem(reply, { status: 503, code: 'unavailable' })
      expect(reply.headers['retry-after']).toBe('5')
      expect((await upload(service, { user, content: '' })).status).toBe(200)
    } finally {
      await provider.start()
    }
  })

  describe('that is refused', () => {
    let refusing: Awaited<ReturnType<typeof openLogged>>
    beforeAll(async () => {
      refusing = await openLogged()
      services = []
    })
    afterAll(() => refusing.service.stop())

    it.each<[which: string, reason: string, Partial<Signed>]>([
      ['of an unknown subject', 'not_found', claim('auth0|5f')],
      ['without a sub', 'ERR_JWT_CLAIM_VALIDATION_FAILED (sub)', claim(undefined)],
      ['without exp', 'ERR_JWT_CLAIM_VALIDATION_FAILED (exp)', { claims: { exp: undefined } }],
      ['for others', 'ERR_JWT_CLAIM_VALIDATION_FAILED (aud)', { claims: { aud: 'secret-other' } }],
      ['of others', 'ERR_JWT_CLAIM_VALIDATION_FAILED (iss)', { claims: { iss: 'secret-other' } }],
      ['that has expired', 'ERR_JWT_EXPIRED (exp)', { claims: { exp: 1_000_000 } }],
      ['of an unknown key', 'ERR_JWKS_NO_MATCHING_KEY', { header: { kid: 'secret-other' } }],
      ['without a key', 'ERR_JWS_INVALID', { header: { kid: undefined } }],
      ['of an unknown user', 'not_found', claim('secret-user')],
      ['that is too long', 'format_error', { claims: { padding: 'x'.repeat(8192) } }],
    ])('%s leaves the reason %s in the log', async (_which, reason, token) => {
      const { service, logged } = refusing
      const before = logged('access_token_invalid').length
      const jwt = await provider.sign({ kid: 'key', ...token })
      expectProblem(
        await download(service, { headers: { cookie: `access_token=${jwt}` } }),
        INVALID,
      )
      await expect.poll(() => logged('access_token_invalid')).toHaveLength(before + 1)
      const line = logged('access_token_invalid').at(-1) ?? ''
      expect(JSON.parse(line)).toMatchObject({ reason, msg: 'request finished' })
      expect(line).not.toMatch(/secret-|auth0|example/)
    })
  })
  it('says nothing in the log but its one line while the keys can not be fetched', async () => {
    const { service, logged } = await openLogged({ clock: () => 0 })
    const headers = await cookieOf()
    await provider.stop()
    try {
      for (let at = 0; at < 5; at++) {
        const reply = await download(service, { headers })
        expectProblem(reply, { status: 503, code: 'unavailable' })
      }
    } finally {
      await provider.start()
    }
    await expect.poll(() => logged('"status":503')).toHaveLength(5)
    expect(logged('fetching the keys')).toHaveLength(1)
    expect(logged('fetching the keys')[0]).toContain('ECONNREFUSED')
    expect(logged('"level":50')).toEqual([])
  })

  it('puts nothing of its own into the log', async () => {
    const { service, logged } = await openLogged()
    const header = Buffer.from(JSON.stringify({ alg: 'ES256', crit: ['\u009b2Jpwned'] }))
    const cookie = `access_token=${header.toString('base64url')}.e30.AAAA`
    expectProblem(await download(service, { headers: { cookie } }), INVALID)
    await expect.poll(() => logged('access_token_invalid')).toHaveLength(1)
    expect(logged('access_token_invalid')[0]).toContain('"reason":"ERR_JO')
    expect(logged('access_token_invalid')[0]).not.toContain('pwned')
  })

  describe('with a scope', () => {
    const path = '/users/me/access-tokens'
    const post = (service: TestService, cookie: { readonly cookie: string }, terms: object) => {
      const headers = { ...cookie, ...JSON_TYPE }
      return ask(service, { method: 'POST', path, headers, body: JSON.stringify(terms) })
    }

    it('permits what the scope does', async () => {
      const service = await open({ scopeClaim: 'repo' })
      const { userId: sub } = await service.createUser(MIB)
      const scoped = (repo: object) => cookieOf({ sub, repo })
      const creating = await scoped({ actions: ['create'], prefix: 'cam-' })
      const insufficient = { status: 403, code: 'scope_insufficient' } as const
      const put = (name: string) => upload(service, { name, content: 'x', headers: creating })
      expect((await put('cam-1')).status).toBe(200)
      expectProblem(await put('other'), insufficient)
      expectProblem(await download(service, { name: 'cam-1', headers: creating }), insufficient)
      expectProblem(
        await download(service, { headers: await cookieOf({ sub, repo: 'read' }) }),
        INVALID,
      )
    })

    it('is told what it permits', async () => {
      const service = await open({ scopeClaim: 'repo' })
      const { userId: sub } = await service.createUser(MIB)
      const exp = Math.floor(Date.now() / 1000) + 60
      const headers = await cookieOf({ sub, exp, repo: { actions: ['share'] } })
      const told = jsonOf(await ask(service, { path: '/session', headers }))
      expect(told).toMatchObject({ user_id: sub, scope: { actions: ['share'], prefix: '' } })
      expect(Date.parse(String(told['expires_at']))).toBeGreaterThanOrEqual(exp * 1000)
    })

    it('a JWT of a device is invalid without the device', async () => {
      const service = await open({ scopeClaim: 'repo' })
      const { userId } = await service.createUser(MIB)
      const headers = await cookieOf({ sub: userId, repo: { device_id: 'camera' } })
      expectProblem(await ask(service, { path: '/users/me/repo', headers }), INVALID)
      const always = { model: undefined, startsAt: undefined, endsAt: undefined }
      const device = { userId, source: 'device', reference: 'camera', bytes: 0, ...always }
      await service.users.putGrant(device)
      expect((await ask(service, { path: '/users/me/repo', headers })).status).toBe(200)
      await service.users.revokeGrant(device)
      service.accessTokens.forgetUser(userId)
      expectProblem(await ask(service, { path: '/users/me/repo', headers }), INVALID)
    })

    it('a JWT of a device makes links that end with the device', async () => {
      const service = await open({ scopeClaim: 'repo' })
      const { userId } = await service.createUser(MIB)
      const always = { model: undefined, startsAt: undefined, endsAt: undefined }
      const device = { userId, source: 'device', reference: 'camera', bytes: 0, ...always }
      await service.users.putGrant(device)
      const scope = { actions: ['share', 'create'], device_id: 'camera' }
      const made = await ask(service, {
        method: 'POST',
        path: '/users/me/links',
        headers: { ...(await cookieOf({ sub: userId, repo: scope })), ...JSON_TYPE },
        body: JSON.stringify({ kind: 'drop', prefix: '' }),
      })
      expect(made.status).toBe(201)
      const path = `/links/${String(jsonOf(made)['secret'])}`
      expect((await ask(service, { path })).status).toBe(200)
      await service.users.revokeGrant(device)
      expect((await ask(service, { path })).status).toBe(404)
    })

    it('makes tokens that permit no more and live no longer', async () => {
      const service = await open({ scopeClaim: 'repo' })
      const { userId: sub } = await service.createUser(MIB)
      const exp = Math.floor(Date.now() / 1000) + 60
      const repo = { actions: ['read', 'share'] }
      const headers = await cookieOf({ sub, exp, repo })
      const made = await post(service, headers, {})
      expect(made.status).toBe(201)
      const { token_id, expires_at } = jsonOf(made)
      expect(Date.parse(String(expires_at))).toBeLessThanOrEqual(exp * 1000)
      const insufficient = { status: 403, code: 'scope_insufficient' } as const
      for (const terms of [{ expires_in: 90 }, { scope: { actions: ['delete'] } }]) {
        expectProblem(await post(service, headers, terms), insufficient)
      }
      const listed = jsonOf(await ask(service, { path, headers }))
      expect(listed).toMatchObject({ access_tokens: [{ token_id, scope: repo }] })
      const another = await cookieOf({ sub, exp, repo })
      expect(jsonOf(await ask(service, { path, headers: another }))).toMatchObject({
        access_tokens: [],
      })
    })
  })

  it('a JWT of 8 KiB and more is refused in a way that its sender can read', async () => {
    const service = await open({ createsUsers: true })
    const headers = await cookieOf({ padding: 'x'.repeat(8000) })
    expectProblem(await download(service, { headers }), INVALID)
    const fits = await cookieOf({ padding: 'x'.repeat(5000) })
    expect((await upload(service, { headers: fits, content: '' })).status).toBe(200)
  })
})
