import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { multipartBody, filePart } from '../../support/http/multipart-body.ts'
import { bytesOf } from '../../support/objects.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { namesOf } from '../file-requests.ts'
import { createLink } from '../links/link-requests.ts'
import { send } from '../scopes/scoped-requests.ts'
import {
  expectNothingReserved,
  expectProblem,
  expectUntouched,
  FORM_TYPE,
  MIB,
  type OpenService,
  pathOf,
  pauseUpload,
  type Placed,
  placeFile,
  type Reply,
  secretOf,
  SHORT_LINGER,
  upload,
} from '../fixture.ts'

const INVALID = { status: 403, code: 'access_token_invalid' } as const
const SUSPENDED = { status: 403, code: 'user_suspended' } as const

/** A minute would outlast every test here: nothing of an answer about a token is forgotten but what has to be. */
const LONG_CACHE = { tokenCacheMs: 60_000 }

const REQUESTS = [
  { method: 'POST', body: multipartBody([filePart('planted')]), type: FORM_TYPE },
  { method: 'PUT', body: Buffer.from('planted'), type: 'text/plain' },
  { method: 'DELETE', body: Buffer.from('no use'), type: 'text/plain' },
  { method: 'PATCH', body: Buffer.from('{"name":"planted"}'), type: 'application/json' },
] as const

/** Its body is of no use, but has to end before the answer. */
const READ = { method: 'GET', body: Buffer.from('no use'), type: 'text/plain' } as const

type Request = (typeof REQUESTS)[number] | typeof READ

/** What was let in, and loses its leave to act while its body is still to come. */
export function takenBackSuite(open: OpenService): void {
  describe('a request whose access is taken back meanwhile', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ reverifyMs: 60_000, ...LONG_CACHE, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it.each(REQUESTS)('C02 $method of a revoked token changes nothing (I2)', async (what) => {
      const { user } = placed
      const token = await issue(service, user)
      const begun = await begin(service, { ...what, cookie: token.cookie })
      await service.accessTokens.revoke(token)
      expectProblem(await begun.finish(), INVALID)
      await expectUntouched(service, withoutCalls(placed))
    })

    it.each([pathOf('file.bin'), '/users/me/archive'])(
      'C02 GET %s of a revoked token reads nothing',
      async (path) => {
        const token = await issue(service, placed.user)
        const begun = await begin(service, { ...READ, path, cookie: token.cookie })
        await service.accessTokens.revoke(token)
        expectProblem(await begun.finish(), INVALID)
      },
    )

    it.each(['/file.bin', '?format=zip'])(
      'GET %s of a revoked link reads nothing',
      async (path) => {
        const token = secretOf(placed.user)
        const link = await createLink(service, { token, kind: 'download', prefix: '' })
        const at = `/links/${link.secret}${path}`
        const begun = await begin(service, { ...READ, path: at, cookie: '' })
        await send(service, { token, method: 'DELETE', path: `/users/me/links/${link.link_id}` })
        expectProblem(await begun.finish(), { status: 404, code: 'not_found' })
      },
    )

    it.each(REQUESTS)('C02 $method of a suspended user changes nothing (I2)', async (what) => {
      const { user } = placed
      const begun = await begin(service, { ...what, cookie: user.cookie })
      await setStatus(service, user, 'suspended')
      expectProblem(await begun.finish(), SUSPENDED)
      await setStatus(service, user, 'active')
      await expectUntouched(service, withoutCalls(placed))
    })

    it.each(REQUESTS)('C02 $method of a deleted user is refused with 403', async (what) => {
      const { user } = placed
      const begun = await begin(service, { ...what, cookie: user.cookie })
      await deleteUser(service, user)
      await service.sweep()
      expectProblem(await begun.finish(), INVALID)
      await service.sweep()
      expect(await service.storedKeys(user)).toEqual([])
    })

    // An upload that has begun keeps the id from being given away, so of these the body has no more come than its head.
    it.each(REQUESTS.filter(({ method }) => method !== 'PUT'))(
      'C02 $method of a deleted user does not touch what the next user of the id has (I1)',
      async (what) => {
        const { user } = placed
        const begun = await begin(service, { ...what, cookie: user.cookie })
        await deleteUser(service, user)
        const next = await makeAgain(service, user)
        const { content } = placed
        expect((await upload(service, { user: next, content })).status).toBe(200)
        expectProblem(await begun.finish(), INVALID)
        expect(await namesOf(service, { user: next })).toEqual(['file.bin'])
      },
    )

    it('C02 an upload whose token has expired meanwhile ends whole', async () => {
      const { user } = placed
      const token = await issue(service, user, 1)
      const content = randomBytes(500_000)
      const paused = await pauseUpload(service, { user: { ...user, ...token }, content })
      const isRefused = async () =>
        await service.accessTokens.verify(token.secret).then(
          () => false,
          () => true,
        )
      await expect.poll(isRefused, { interval: 50, timeout: 5_000 }).toBe(true)
      paused.resume()
      expect((await paused.reply).status).toBe(200)
    })
  })

  describe('a slow upload whose token is revoked', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open({ reverifyMs: 50, ...LONG_CACHE, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())

    it.each(['POST', 'PUT'] as const)(
      'C02 by %s is ended before its body, and gives back what it had reserved',
      async (method) => {
        const placed = await placeFile(service)
        const token = await issue(service, placed.user)
        const user = { ...placed.user, ...token }
        const paused = await pauseUpload(service, { user, method, content: randomBytes(500_000) })
        await service.accessTokens.revoke(token)
        expectProblem(await paused.reply, INVALID)
        await expectNothingReserved(service, user)
        await expectUntouched(service, withoutCalls(placed))
      },
    )
  })
}

/** Calls of ports that change something are made here before the refusal, so what they left is what is looked at. */
function withoutCalls({ calls: _calls, ...placed }: Placed): Placed {
  return placed
}

interface Begun {
  /** Sends the body and resolves with the answer. */
  finish(): Promise<Reply>
}

/** Sends the head of a request, and resolves when it was let in: the service has asked for the body. */
async function begin(
  service: TestService,
  {
    method,
    body,
    type,
    cookie,
    path = pathOf('file.bin'),
  }: Request & { readonly cookie: string; readonly path?: string },
): Promise<Begun> {
  const headers = {
    cookie,
    expect: '100-continue',
    'content-type': type,
    'content-length': body.length,
  }
  const target = { host: '127.0.0.1', port: service.port, agent: false }
  const request = httpRequest({ ...target, method, path, headers })
  const response = once(request, 'response') as Promise<[IncomingMessage]>
  // It rejects with what `finish` is told.
  response.catch(() => undefined)
  request.flushHeaders()
  await Promise.race([once(request, 'continue'), response])
  return {
    async finish() {
      request.end(body)
      const [answer] = await response
      return {
        status: answer.statusCode ?? 0,
        headers: answer.headers as Record<string, string>,
        body: await bytesOf(answer),
      }
    },
  }
}

async function issue(service: TestService, { userId }: TestUser, expiresInSeconds?: number) {
  const terms = { userId, label: 'another', expiresInSeconds }
  const { secret, tokenId } = await service.accessTokens.issue(terms)
  return { userId, tokenId, secret, cookie: `access_token=${secret}` }
}

async function setStatus(
  service: TestService,
  { userId }: TestUser,
  status: 'active' | 'suspended',
): Promise<void> {
  await service.users.setUserStatus(userId, status)
  service.accessTokens.forgetUser(userId)
}

async function deleteUser(service: TestService, { userId }: TestUser): Promise<void> {
  await service.users.deleteUser(userId)
  service.accessTokens.forgetUser(userId)
}

/** The next user of the id, once the one before is purged. */
async function makeAgain(service: TestService, { userId }: TestUser): Promise<TestUser> {
  await service.sweep()
  expect(await service.users.createUser(userId)).toMatchObject({ created: true })
  const { cookie } = await issue(service, { userId, cookie: '' })
  const next = { userId, cookie }
  await service.setCapacity(next, MIB)
  return next
}
