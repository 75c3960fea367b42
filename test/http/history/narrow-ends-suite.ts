import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fileBody } from '../../support/http/multipart-body.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { FORM_TYPE, MIB, type OpenService, secretOf } from '../fixture.ts'
import { OFFSET_TYPE } from '../resumable/tus-requests.ts'
import { createLink, visit } from '../links/link-requests.ts'
import { creation, firstAppend, issue, problemOf, send } from '../scopes/scoped-requests.ts'

const FILE = '/users/me/repo/thesis'
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** What a token with a scope ends over HTTP, whichever way it takes, is told apart from what the account ends. */
export function narrowEndsSuite(open: OpenService): void {
  describe('a token with a scope', () => {
    let service: TestService
    let user: TestUser
    let narrow: string
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 3_600_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(3 * MIB)
      narrow = await issue(service, user, { actions: ['create', 'replace', 'delete'] })
    })

    type Sent = Omit<Parameters<typeof send>[1], 'token'>
    const ask = async (sent: Sent, token = narrow) => {
      const response = await send(service, { ...sent, token })
      expect(response.ok).toBe(true)
      return response
    }
    const json = async (response: Promise<Response>) =>
      (await (await response).json()) as Record<string, unknown>
    const put = (path: string, body: string, token = narrow) =>
      json(ask({ method: 'PUT', path, body }, token))
    /** By tus, whose first request stores nothing yet. */
    const resumed = async (created: Promise<Response>) =>
      void (await ask(firstAppend(await created, 'x')))
    const batch = (...operations: readonly object[]) =>
      ask({
        method: 'POST',
        path: '/users/me/batch',
        headers: JSON_TYPE,
        body: JSON.stringify({ operations }),
      })

    const ways: Readonly<Record<string, () => Promise<unknown>>> = {
      'a body': () => put(FILE, 'x'),
      'a form': () =>
        ask({
          method: 'POST',
          path: FILE,
          headers: { 'Content-Type': FORM_TYPE },
          body: fileBody('x').toString(),
        }),
      tus: () => resumed(ask(creation('thesis'))),
      'tus, begun by the owner': () => resumed(ask(creation('thesis'), secretOf(user))),
      'tus in one request': () => ask({ ...creation('thesis', OFFSET_TYPE), body: 'x' }),
      'an empty tus upload': () => ask(creation('thesis', { length: 0 })),
      'a deletion': () => ask({ method: 'DELETE', path: FILE }),
      async 'a rename'() {
        await put('/users/me/repo/own', 'x')
        const body = JSON.stringify({ name: 'thesis', overwrite: true })
        await ask({ method: 'PATCH', path: '/users/me/repo/own', headers: JSON_TYPE, body })
      },
      'a batch that deletes': () => batch({ op: 'delete', name: 'thesis' }),
      async 'a batch that renames'() {
        await put('/users/me/repo/own', 'x')
        await batch({ op: 'rename', name: 'own', new_name: 'thesis', overwrite: true })
      },
    }

    it.each(Object.keys(ways))(
      'purges nothing of others by %s, whatever it uploads then',
      async (way) => {
        const owner = secretOf(user)
        // It leaves no room in the allowance for what is uploaded next, unless it counts apart.
        const { version } = await put(FILE, 'the only copy '.repeat(100_000), owner)
        const { version: earlier } = await put('/users/me/repo/old', 'deleted before', owner)
        await ask({ method: 'DELETE', path: '/users/me/repo/old' }, owner)
        await ways[way]?.()
        for (const round of [1, 2, 3])
          await put('/users/me/repo/live', `${round}`.repeat(1.4 * MIB))
        await service.sweep()
        const { history } = await json(ask({ path: '/users/me/capacity' }, owner))
        // The thesis, the earlier one, and the newest that has been live.
        expect(history).toMatchObject({ count: 3 })
        for (const each of [version, earlier]) {
          const path = `/users/me/history/${String(each)}/restore`
          const body = JSON.stringify({ overwrite: true })
          await ask({ method: 'POST', path, headers: JSON_TYPE, body }, owner)
        }
      },
    )

    const stores: Readonly<Record<string, (content: string) => Promise<unknown>>> = {
      'the token': (content) => put('/users/me/repo/junk', content),
      async 'a visitor of a drop link'(content) {
        const terms = { token: secretOf(user), kind: 'drop', prefix: '' }
        const { secret } = await createLink(service, terms)
        const headers = { 'Content-Type': FORM_TYPE }
        const body = fileBody(content).toString()
        const dropped = await visit(service, {
          secret,
          path: '/junk',
          method: 'POST',
          headers,
          body,
        })
        expect(dropped.ok).toBe(true)
      },
    }

    it.each(Object.keys(stores))(
      'pushes nothing out of the history that the owner has deleted, by what %s stores and the owner deletes',
      async (who) => {
        const owner = secretOf(user)
        const { version } = await put(FILE, 'the only copy '.repeat(50_000), owner)
        await ask({ method: 'DELETE', path: FILE }, owner)
        for (const round of [1, 2, 3]) {
          await stores[who]?.(`${round}`.repeat(1.2 * MIB))
          await ask({ method: 'DELETE', path: '/users/me/repo/junk' }, owner)
          await service.sweep()
        }
        const path = `/users/me/history/${String(version)}/restore`
        const restored = await json(ask({ method: 'POST', path }, owner))
        expect(restored).toMatchObject({ version })
      },
    )

    it('can set no expiry without "history", as what expires leaves none', async () => {
      await put(FILE, 'the only copy', secretOf(user))
      const expires_at = '2099-01-31T00:00:00.000Z'
      const change = { method: 'PATCH', path: FILE, headers: JSON_TYPE }
      const setting = { ...change, body: JSON.stringify({ expires_at }) }
      const refusal = { code: 'scope_insufficient', required: 'history' }
      expect(await problemOf(await send(service, { ...setting, token: narrow }))).toMatchObject(
        refusal,
      )
      const operations = [{ op: 'update', name: 'thesis', expires_at }]
      const inBatch = {
        method: 'POST',
        path: '/users/me/batch',
        headers: JSON_TYPE,
        body: JSON.stringify({ operations }),
      }
      expect(await problemOf(await send(service, { ...inBatch, token: narrow }))).toMatchObject(
        refusal,
      )
      await ask({ ...change, body: JSON.stringify({ expires_at: null }) })
      await ask(setting, await issue(service, user, { actions: ['replace', 'history'] }))
    })

    it('asks for no eviction without "history", unless its uploads evict anyway', async () => {
      const evict = (token: string, prefix: string) =>
        send(service, {
          method: 'PUT',
          path: `/users/me/repo/cam-1?evict=${prefix}`,
          body: 'x',
          token,
        })
      const refusal = { code: 'scope_insufficient', required: 'history' }
      expect(await problemOf(await evict(narrow, 'cam-'))).toMatchObject(refusal)
      const scope = { actions: ['create', 'replace'], prefix: 'cam-', when_full: 'evict_oldest' }
      const camera = await issue(service, user, scope)
      expect(await problemOf(await evict(camera, 'cam-1'))).toBeUndefined()
      expect(await problemOf(await evict(camera, 'ca'))).toMatchObject({ required: 'delete' })
      const purger = await issue(service, user, {
        actions: ['create', 'replace', 'delete', 'history'],
      })
      expect(await problemOf(await evict(purger, 'cam-'))).toBeUndefined()
    })
  })
}
