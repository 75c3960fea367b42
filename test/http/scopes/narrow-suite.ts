import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { forEachConcurrent } from '../../../src/core/async/for-each-concurrent.ts'
import { type Piece, rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { bodyOf, headOf, type OpenService, secretOf, usageOf } from '../fixture.ts'
import { createLink, visit } from '../links/link-requests.ts'
import { OFFSET_TYPE } from '../resumable/tus-requests.ts'
import { creation, type Problem, problemOf, send, type Sent } from './scoped-requests.ts'

const CAPACITY = 1_000_000
const TOKENS = '/users/me/access-tokens'
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** What a token with a scope, or the visitor of a link, leaves of an account's limits. */
export function narrowSuite(open: OpenService): void {
  describe('a narrow credential', () => {
    let service: TestService
    let user: TestUser
    let full: string
    beforeAll(async () => {
      service = await open({ maxFiles: 100, maxUnfinished: 12, historyLifetimeMs: 60_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(CAPACITY)
      full = secretOf(user)
    })

    const refusal = async (token: string, sent: Sent): Promise<Problem | undefined> =>
      await problemOf(await send(service, { ...sent, token }))
    const put = (name: string, body = 'hello'): Sent => ({
      method: 'PUT',
      path: `/users/me/repo/${name}`,
      body,
    })
    const make = async (token: string, scope?: object): Promise<string> => {
      const body = JSON.stringify({ scope })
      const response = await send(service, { ...post(TOKENS, body), token })
      expect(response.status).toBe(201)
      return ((await response.json()) as { access_token: string }).access_token
    }
    const post = (path: string, body: string): Sent => ({
      method: 'POST',
      path,
      headers: JSON_TYPE,
      body,
    })
    const tus = (name: string, length: number): Sent => ({
      ...creation(name, { length, ...OFFSET_TYPE }),
      body: 'x',
    })
    /** Announces all that is free, sends a little of it, and waits until the upload has begun. */
    const stall = async (path: string, method: 'PUT' | 'POST', token?: string) => {
      const { promise: end, resolve } = Promise.withResolvers<void>()
      const body = bodyOf(Buffer.alloc(CAPACITY - 1000), method)
      const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` }
      async function* pieces(): AsyncGenerator<Piece> {
        yield headOf({ path, method, headers: authorization, length: body.length })
        yield body.subarray(0, 40_000)
        await end
      }
      const { port } = service
      const reply = rawRequest({ port, send: pieces(), afterwards: 'reset' })
      const pending = async () => {
        const page = { after: undefined, limit: 10 }
        const uploads = await service.ledger.listPendingUploads(page)
        return uploads.some(({ userId }) => userId === user.userId)
      }
      await expect.poll(pending, { interval: 10, timeout: 5000 }).toBe(true)
      return async () => {
        resolve()
        await reply.catch(() => undefined)
      }
    }

    it.each(['PUT', 'POST'] as const)(
      'reserves by %s what it has sent, whatever it announces',
      async (method) => {
        const camera = await make(full, { actions: ['create'], prefix: 'cam-' })
        const { secret } = await createLink(service, { token: full, kind: 'drop', prefix: 'in-' })
        for (const stalled of [
          () => stall('/users/me/repo/cam-1', method, camera),
          () => stall(`/links/${secret}/1`, method),
        ]) {
          const stop = await stalled()
          const reserved = async () => (await usageOf(service, user)).reserved
          await expect.poll(reserved, { interval: 10 }).toBeGreaterThan(30_000)
          expect(await refusal(full, put(`note-${method}`, 'x'.repeat(800_000)))).toBeUndefined()
          expect(await reserved()).toBeLessThan(200_000)
          await stop()
        }
      },
    )

    it('reserves by tus what it has sent', async () => {
      const camera = await make(full, { actions: ['create'], prefix: 'cam-' })
      expect(await refusal(camera, tus('cam-1', CAPACITY))).toBeUndefined()
      expect(await refusal(full, put('note', 'x'.repeat(900_000)))).toBeUndefined()
      expect(await refusal(full, tus('film', 90_000))).toBeUndefined()
      expect(await refusal(camera, tus('cam-3', CAPACITY))).toMatchObject({
        status: 403,
        code: 'capacity_exceeded',
      })
    })

    it('has a quarter of the unfinished uploads', async () => {
      const camera = await make(full, { actions: ['create', 'share'], prefix: 'cam-' })
      const child = await make(camera)
      expect(await refusal(camera, tus('cam-1', 2))).toBeUndefined()
      expect(await refusal(child, tus('cam-2', 2))).toBeUndefined()
      expect(await refusal(child, tus('cam-3', 2))).toBeUndefined()
      const reached = { code: 'unfinished_uploads_exceeded', max_unfinished_uploads: 3 }
      expect(await refusal(camera, tus('cam-4', 2))).toMatchObject(reached)
      expect(await refusal(child, tus('cam-4', 2))).toMatchObject(reached)
      expect(await refusal(full, tus('film', 2))).toBeUndefined()
    })

    it('has a quarter of the tokens and links, with all that it makes', async () => {
      const camera = await make(full, { actions: ['read', 'share'], prefix: 'cam-' })
      const child = await make(camera)
      const either = (at: number): string => (at % 2 === 0 ? camera : child)
      await forEachConcurrent(numbers(249), 8, async (at) => void (await make(either(at))))
      const link = post('/users/me/links', '{"kind":"download","prefix":"cam-"}')
      await forEachConcurrent(numbers(250), 8, async (at) =>
        expect(await refusal(either(at), link)).toBeUndefined(),
      )
      for (const token of [camera, child]) {
        expect(await refusal(token, post(TOKENS, '{}'))).toMatchObject({
          code: 'access_token_limit_exceeded',
          max_access_tokens: 250,
        })
        expect(await refusal(token, link)).toMatchObject({
          code: 'link_count_exceeded',
          max_links: 250,
        })
      }
      expect(await refusal(full, link)).toBeUndefined()
      const other = await make(full, { actions: ['read', 'share'] })
      expect(await refusal(other, post(TOKENS, '{}'))).toBeUndefined()
    })

    it('has a quarter of the requests that wait for changes', async () => {
      const camera = await make(full, { actions: ['read'] })
      const { next_cursor: cursor } = (await (
        await send(service, { path: '/users/me/changes', token: full })
      ).json()) as { next_cursor: string }
      const path = `/users/me/changes?wait=5&cursor=${cursor}`
      const waits = Array.from({ length: 4 }, () => send(service, { path, token: camera }))
      const wait = async () => (await refusal(camera, { path }))?.code
      await expect.poll(wait, { timeout: 4_000 }).toBe('too_many_requests')
      const own = send(service, { path, token: full })
      expect(await refusal(full, put('note'))).toBeUndefined()
      expect((await own).status).toBe(200)
      await Promise.all(waits)
    })

    it('leaves the owner a tenth of the files', async () => {
      const { secret } = await createLink(service, { token: full, kind: 'drop', prefix: 'in-' })
      const codes = new Map<number, number>()
      await forEachConcurrent(numbers(95), 8, async (at) => {
        const { status } = await visit(service, { secret, path: `/${at}`, method: 'PUT', body: '' })
        codes.set(status, (codes.get(status) ?? 0) + 1)
      })
      expect(Object.fromEntries(codes)).toEqual({ 200: 90, 403: 5 })
      expect(await refusal(full, put('mine'))).toBeUndefined()
      const archivist = await make(full, { actions: ['read', 'create', 'history'] })
      expect(await refusal(full, { method: 'DELETE', path: '/users/me/repo/mine' })).toBeUndefined()
      const { versions } = (await (
        await send(service, { path: '/users/me/history', token: full })
      ).json()) as { versions: readonly { version: string }[] }
      const version = versions[0]?.version ?? ''
      const one = post(`/users/me/history/${version}/restore`, '{}')
      const batch = post(
        '/users/me/batch',
        JSON.stringify({ operations: [{ op: 'restore', version }] }),
      )
      for (const restore of [one, batch]) {
        const tooMany = { code: 'file_count_exceeded', max_files: 90 }
        expect(await refusal(archivist, restore)).toMatchObject(tooMany)
      }
      expect(await refusal(full, one)).toBeUndefined()
    })
  })
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at)
}
