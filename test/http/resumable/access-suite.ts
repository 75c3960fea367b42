import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { createVersion, objectKey } from '../../../src/core/objects/object-key.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import { callerNamed } from '../../support/caller.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ask, expectProblem, MIB, type OpenService, SHORT_LINGER, usageOf } from '../fixture.ts'
import {
  append,
  appended,
  base64,
  beginAppend,
  cancel,
  create,
  createUpload,
  expectFile,
  head,
  headText,
  listed,
  look,
  offsetOf,
  stateOf,
  TUS,
  type TusUpload,
  UPLOADS,
  expectOnlyFilesOf,
} from './tus-requests.ts'

const APP = 'https://app.example.com'
const SUSPENDED = { status: 403, code: 'user_suspended' } as const
const INVALID = { status: 403, code: 'access_token_invalid' } as const
const CROSS_SITE = { status: 403, code: 'cross_site_request' } as const

/** The service has read the head of a request by then. */
const UNDER_WAY_MS = 100

/** Who may continue a resumable upload, and the pages of which sites. */
export function uploadAccessSuite(open: OpenService): void {
  describe('the access to a resumable upload', () => {
    let service: TestService
    let user: TestUser
    let upload: TusUpload
    const content = randomBytes(200_000)
    const [first, rest] = [content.subarray(0, 100_000), content.subarray(100_000)]
    beforeAll(async () => {
      service = await open({ allowedOrigins: [APP], reverifyMs: 50, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
      upload = await createUpload(service, { user, length: content.length })
    })

    /** Another token of the same user. */
    async function anotherToken() {
      const { userId } = user
      const issued = await service.accessTokens.issue({
        userId,
        label: 'two',
        expiresInSeconds: undefined,
      })
      const { secret, tokenId } = issued
      return { user: { userId, cookie: `access_token=${secret}` }, userId, tokenId }
    }

    async function setStatus(status: 'active' | 'suspended'): Promise<void> {
      await service.users.setUserStatus(user.userId, status)
      service.accessTokens.forgetUser(user.userId)
    }

    it('R24 is any token of the user', async () => {
      const { user: other, tokenId, userId } = await anotherToken()
      await appended(service, { ...upload, user: other }, { body: first })
      await service.accessTokens.revoke({ userId, tokenId })
      const revoked = { ...upload, user: other }
      expectProblem(await append(service, revoked, { offset: first.length, body: rest }), INVALID)
      await appended(service, upload, { offset: first.length, body: rest })
      await expectFile(service, upload, content)
    })

    it('R24 ends with the token in the middle of an append, and goes on with another one', async () => {
      const { user: other, tokenId, userId } = await anotherToken()
      const running = await beginAppend(service, { ...upload, user: other }, { first, rest })
      await service.accessTokens.revoke({ userId, tokenId })
      expectProblem(await running.reply, INVALID)
      const offset = await offsetOf(service, upload)
      expect(offset).toBeLessThanOrEqual(first.length)
      await appended(service, upload, { offset, body: content.subarray(offset) })
      await expectFile(service, upload, content)
    })

    it('R24 is not cancelled with a token that is revoked before the body of the request ends', async () => {
      const { user: other, tokenId, userId } = await anotherToken()
      async function* pieces(): AsyncGenerator<string> {
        const length = { 'Content-Length': '2' }
        yield headText(`DELETE ${upload.path}`, { ...TUS, Cookie: other.cookie, ...length })
        yield 'a'
        await setTimeout(UNDER_WAY_MS)
        await service.accessTokens.revoke({ userId, tokenId })
        yield 'b'
      }
      const { port } = service
      expectProblem(await rawRequest({ port, send: pieces(), timeoutMs: 30_000 }), INVALID)
      expect(await offsetOf(service, upload)).toBe(0)
    })

    it('R24 ends when the user is suspended, in an append and before one, and goes on afterwards', async () => {
      const running = await beginAppend(service, upload, { first, rest })
      await setStatus('suspended')
      expectProblem(await running.reply, SUSPENDED)
      expectProblem(await create(service, { user, length: 1 }), SUSPENDED)
      expectProblem(await append(service, upload, { body: content }), SUSPENDED)
      expectProblem(await look(service, upload), SUSPENDED)
      expectProblem(await cancel(service, upload), SUSPENDED)
      expect((await head(service, upload)).status).toBe(403)
      await setStatus('active')
      const offset = await offsetOf(service, upload)
      await appended(service, upload, { offset, body: content.subarray(offset) })
      await expectFile(service, upload, content)
    })

    it('R24 ends with the user, and nothing is left', async () => {
      // Not whole: an object that is stored before the loss of access is noticed would wait for a later sweep.
      const unfinished = { first, rest: rest.subarray(1), missing: 1 }
      const running = await beginAppend(service, upload, unfinished)
      await service.users.deleteUser(user.userId)
      service.accessTokens.forgetUser(user.userId)
      await service.sweep()
      running.goOn()
      expectProblem(await running.reply, INVALID)
      await service.sweep()
      await expectOnlyFilesOf(service, { user, names: [] })
    })

    describe('of a page of another site', () => {
      const evil = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }

      it('R37 is refused, and stops no append', async () => {
        const running = await beginAppend(service, upload, { first, rest })
        const headers = { ...TUS, ...evil }
        const { path } = upload
        for (const method of ['POST', 'PATCH', 'DELETE']) {
          const target = method === 'POST' ? UPLOADS : path
          expectProblem(await ask(service, { user, method, path: target, headers }), CROSS_SITE)
        }
        expect(await stateOf(service, upload)).toBe('receiving')
        running.goOn()
        expect((await running.reply).status).toBe(204)
      })

      it('R37 needs a preflight for what stops an append, and does not get it', async () => {
        const headers = { ...evil, 'Access-Control-Request-Method': 'HEAD' }
        const asking = { ...headers, 'Access-Control-Request-Headers': 'tus-resumable' }
        const reply = await ask(service, { method: 'OPTIONS', path: upload.path, headers: asking })
        expectProblem(reply, CROSS_SITE)
        expect(reply.headers['access-control-allow-origin']).toBeUndefined()
        // Without the header, which needs none, a HEAD stops nothing.
        const running = await beginAppend(service, upload, { first, rest })
        expect(
          (await head(service, upload, evil)).headers['access-control-allow-origin'],
        ).toBeUndefined()
        expect(await stateOf(service, upload)).toBe('receiving')
        running.goOn()
        expect((await running.reply).status).toBe(204)
      })
    })

    describe('of a page of an origin that is allowed', () => {
      const TUS_ANSWER_HEADERS = [
        'Location',
        'Tus-Checksum-Algorithm',
        'Tus-Extension',
        'Tus-Max-Size',
        'Tus-Resumable',
        'Tus-Version',
        'Upload-Defer-Length',
        'Upload-Expires',
        'Upload-Length',
        'Upload-Metadata',
        'Upload-Offset',
      ]
      const split = (text = '') => text.split(', ')

      it('R37 may read every header of the answers', async () => {
        const headers = { Origin: APP, 'Sec-Fetch-Site': 'cross-site' }
        const replies = [
          await create(service, { user, name: 'b', length: 9, headers }),
          await append(service, upload, { body: first, headers }),
          await head(service, upload, { ...TUS, ...headers }),
          await append(service, upload, { body: first, headers }),
        ]
        expect(replies.map(({ status }) => status)).toEqual([201, 204, 200, 409])
        for (const { headers: answer } of replies) {
          expect(answer).toMatchObject({
            'access-control-allow-origin': APP,
            'tus-resumable': '1.0.0',
          })
          const exposed = split(answer['access-control-expose-headers'])
          expect(exposed).toEqual(expect.arrayContaining(TUS_ANSWER_HEADERS))
        }
      })
    })

    it('R29 ends with its expiry, before a sweep has seen it too', async () => {
      const made = await createExpired(service, user)
      expect((await head(service, made)).status).toBe(410)
      for (const reply of [
        await append(service, made, { body: 'four' }),
        await look(service, made),
        await cancel(service, made),
      ]) {
        const gone = expectProblem(reply, { status: 410, code: 'upload_gone' })
        expect(gone['outcome']).toBe('expired')
      }
      expect(await listed(service, user)).toEqual([upload.id])
      await service.sweep()
      // No append has claimed it, so nothing of it is kept.
      expect((await head(service, made)).status).toBe(404)
      expect(await usageOf(service, user)).toMatchObject({ reserved: content.length })
      await cancel(service, upload)
      await expectOnlyFilesOf(service, { user, names: [] })
    })
  })
}

/** An upload whose time was over an hour ago, also by the safe time of the last sweep, and which no sweep has ended. */
async function createExpired({ users, ledger }: TestService, user: TestUser): Promise<TusUpload> {
  const version = createVersion()
  const name = parseFileName('expired')
  const length = 100
  await ledger.createResumable({
    ...(await callerNamed(users, user.userId)),
    version,
    objectKey: objectKey(user.userId, version),
    name,
    length,
    partSize: 8 * MIB,
    metadata: `filename ${base64(name)}`,
    visibility: undefined,
    precondition: undefined,
    expectedSha256: undefined,
    emptyLifetimeMs: -60 * 60_000,
    maxLifetimeMs: 60_000,
  })
  return { user, name, id: version, path: `${UPLOADS}/${version}` }
}
