import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fileBody } from '../../support/http/multipart-body.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { FORM_TYPE, type OpenService, secretOf, usageOf } from '../fixture.ts'
import { base64, OFFSET_TYPE, TUS } from '../resumable/tus-requests.ts'
import { issue, problemOf, send } from '../scopes/scoped-requests.ts'

const REPO = '/users/me/repo'
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** Uploads that make room, and files that expire, over HTTP. */
export function retentionSuite(open: OpenService): void {
  describe('a repository that is full', () => {
    let service: TestService
    let user: TestUser
    let token: string
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 60_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(1_000)
      token = secretOf(user)
      for (const name of ['cam-1', 'cam-2', 'other']) {
        await send(service, { ...put(name, 300), token })
      }
    })

    const put = (name: string, size: number, query = '') => ({
      method: 'PUT',
      path: `${REPO}/${name}${query}`,
      body: 'x'.repeat(size),
    })
    const ask = (sent: Parameters<typeof send>[1]['path'] | object, using = token) =>
      send(service, { ...(sent as { path: string }), token: using })
    const names = async () => {
      const page = (await (await ask({ path: REPO })).json()) as { files: { name: string }[] }
      return page.files.map(({ name }) => name)
    }
    const evicted = { files: 1, bytes: 300 }
    const wayOf: Readonly<Record<string, () => Promise<unknown>>> = {
      async 'the body'() {
        const answer = await ask(put('cam-3', 300, '?evict=cam-'))
        return ((await answer.json()) as { evicted: unknown }).evicted
      },
      async 'a form'() {
        const answer = await ask({
          method: 'POST',
          path: `${REPO}/cam-3?evict=cam-`,
          headers: { 'Content-Type': FORM_TYPE },
          body: fileBody('x'.repeat(300)),
        })
        return ((await answer.json()) as { evicted: unknown }).evicted
      },
      async tus() {
        const headers = { ...TUS, 'Upload-Metadata': `filename ${base64('cam-3')}` }
        const created = await ask({
          method: 'POST',
          path: '/users/me/uploads?evict=cam-',
          headers: { ...headers, 'Upload-Length': '300' },
        })
        expect(created.status).toBe(201)
        const path = created.headers.get('location') ?? ''
        for (const [offset, size] of [
          [0, 100],
          [100, 200],
        ] as const) {
          expect(await names()).toEqual(['cam-1', 'cam-2', 'other'])
          const append = { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': `${offset}` }
          const part = await ask({ method: 'PATCH', path, headers: append, body: 'x'.repeat(size) })
          expect(part.status).toBe(204)
        }
        return evicted
      },
    }

    it.each(Object.keys(wayOf))('makes room for an upload by %s, at its end', async (way) => {
      expect(await wayOf[way]?.()).toEqual(evicted)
      expect(await names()).toEqual(['cam-2', 'cam-3', 'other'])
      expect(await usageOf(service, user)).toMatchObject({ used: 900, reserved: 0, fileCount: 3 })
      const changes = await ask({ path: `/users/me/history` })
      expect(((await changes.json()) as { versions: unknown[] }).versions).toEqual([])
    })

    it('says what could be evicted where that is too little', async () => {
      expect(await problemOf(await ask(put('cam-3', 800, '?evict=cam-')))).toMatchObject({
        status: 403,
        code: 'capacity_exceeded',
        capacity: 1_000,
        evictable: 600,
      })
      expect(await problemOf(await ask(put('cam-3', 300)))).not.toHaveProperty('evictable')
      await ask({
        method: 'PATCH',
        path: `${REPO}/cam-1`,
        headers: JSON_TYPE,
        body: '{"keep":true}',
      })
      expect(await problemOf(await ask(put('cam-3', 800, '?evict=')))).toMatchObject({
        evictable: 600,
      })
      expect(await names()).toEqual(['cam-1', 'cam-2', 'other'])
    })

    it('evicts for a token only within its prefix, and as its scope says', async () => {
      const insufficient = (required: string) => ({ code: 'scope_insufficient', required })
      const creator = await issue(service, user, { actions: ['create'], prefix: 'cam-' })
      const asked = put('cam-3', 300, '?evict=cam-')
      expect(await problemOf(await ask(asked, creator))).toMatchObject(insufficient('delete'))
      expect(await problemOf(await ask(put('cam-3', 300), creator))).toMatchObject({
        code: 'capacity_exceeded',
      })
      const deleter = await issue(service, user, { actions: ['create', 'delete'], prefix: 'cam-' })
      const wider = put('cam-3', 300, '?evict=')
      expect(await problemOf(await ask(wider, deleter))).toMatchObject(insufficient('prefix'))
      const scope = { actions: ['create', 'read'], prefix: 'cam-', when_full: 'evict_oldest' }
      const camera = await issue(service, user, scope)
      expect(await problemOf(await ask(put('cam-3', 700), camera))).toBeUndefined()
      expect(await names()).toEqual(['cam-3', 'other'])
      expect(await problemOf(await ask(put('cam-4', 701), camera))).toMatchObject({
        evictable: 700,
      })
    })

    it('lets a token that may delete and purge make one that evicts, and no other', async () => {
      const make = (scope: object, using: string) =>
        ask(
          {
            method: 'POST',
            path: '/users/me/access-tokens',
            headers: JSON_TYPE,
            body: JSON.stringify({ scope }),
          },
          using,
        )
      const evicting = { when_full: 'evict_oldest' }
      const sharer = await issue(service, user, { actions: ['create', 'share'] })
      expect(await problemOf(await make(evicting, sharer))).toMatchObject({ required: 'when_full' })
      const deletes = ['create', 'share', 'delete']
      const deleter = await issue(service, user, { actions: deletes })
      expect(await problemOf(await make(evicting, deleter))).toMatchObject({
        required: 'when_full',
      })
      const purger = await issue(service, user, { actions: [...deletes, 'history'] })
      const child = await make({ ...evicting, actions: ['create', 'share'] }, purger)
      const { access_token: camera } = (await child.json()) as { access_token: string }
      const grandchild = (await (await make({}, camera)).json()) as { scope: object }
      expect(grandchild.scope).toMatchObject({ actions: ['create', 'share'], ...evicting })
      expect(await problemOf(await make({ when_full: 'never' }, token))).toMatchObject({
        status: 400,
      })
    })

    it('tells wrong parameters', async () => {
      for (const [query, parameter] of [
        ['?evict=a%2f%2fb', 'evict'],
        ['?evict=%ff', 'evict'],
        ['?evict=%zz', 'evict'],
        ['?evict=a&evict=b', 'evict'],
        ['?expires_in=0', 'expires_in'],
        ['?expires_in=1.5', 'expires_in'],
        ['?expires_in=9999999999', 'expires_in'],
      ] as const) {
        expect(await problemOf(await ask(put('cam-3', 1, query)))).toMatchObject({
          status: 400,
          code: 'invalid_parameter',
          parameter,
        })
      }
    })
  })

  describe('a file that expires', () => {
    let service: TestService
    let token: string
    let user: TestUser
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(1_000)
      token = secretOf(user)
    })

    const ask = (sent: object) => send(service, { ...(sent as { path: string }), token })
    const put = (query = '') => ask({ method: 'PUT', path: `${REPO}/f${query}`, body: 'content' })
    const patch = (body: object) =>
      ask({ method: 'PATCH', path: `${REPO}/f`, headers: JSON_TYPE, body: JSON.stringify(body) })
    const json = async (answer: Promise<Response>) =>
      (await (await answer).json()) as Record<string, unknown>
    const inMs = (file: Record<string, unknown>) =>
      Date.parse(String(file['expires_at'])) - Date.parse(String(file['updated_at']))

    it('is gone for everybody, however it was uploaded, and its bytes after a sweep', async () => {
      const stored = await json(put('?expires_in=1'))
      expect(inMs(stored)).toBe(1_000)
      const headers = {
        ...TUS,
        ...OFFSET_TYPE,
        'Upload-Length': '1',
        'Upload-Metadata': `filename ${base64('t')}`,
      }
      await ask({ method: 'POST', path: '/users/me/uploads?expires_in=1', headers, body: 'x' })
      expect((await ask({ path: `${REPO}/t` })).status).toBe(200)
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      for (const sent of [
        { path: `${REPO}/f` },
        { method: 'HEAD', path: `${REPO}/f` },
        { method: 'DELETE', path: `${REPO}/f` },
        { path: `${REPO}/t` },
      ]) {
        expect((await ask(sent)).status).toBe(404)
      }
      expect(await json(ask({ path: REPO }))).toMatchObject({ files: [] })
      expect(await problemOf(await patch({ keep: true }))).toMatchObject({ status: 404 })
      expect(await usageOf(service, user)).toMatchObject({ used: 8, fileCount: 2 })
      await service.sweep()
      expect(await usageOf(service, user)).toMatchObject({ used: 0, fileCount: 0 })
      await service.sweep()
      expect(await service.storedKeys(user)).toEqual([])
    })

    it('can be made to stay, and another to go', async () => {
      await put('?expires_in=1000')
      expect(await json(patch({ expires_at: null }))).toMatchObject({
        expires_at: null,
        keep: false,
      })
      const expires_at = '2099-01-31T00:00:00.000Z'
      expect(await json(patch({ expires_at, keep: true }))).toMatchObject({
        expires_at,
        keep: true,
      })
      expect(await json(put())).toMatchObject({ expires_at: null, keep: true })
      for (const body of [
        { expires_at: '2020-01-31T00:00:00Z' },
        { expires_at: 'tomorrow' },
        { expires_at: 5 },
        { keep: 'yes' },
        { overwrite: true },
      ]) {
        expect((await patch(body)).status).toBe(400)
      }
      const changer = await issue(service, user, { actions: ['share', 'delete'] })
      const refused = send(service, {
        method: 'PATCH',
        path: `${REPO}/f`,
        headers: JSON_TYPE,
        body: '{"keep":false}',
        token: changer,
      })
      expect(await problemOf(await refused)).toMatchObject({ required: 'replace' })
    })
  })
}
