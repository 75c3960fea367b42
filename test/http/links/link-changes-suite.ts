import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type {
  TestService,
  TestServiceOptions,
  TestUser,
} from '../../support/service/test-service.ts'
import type { TwinServices } from '../../support/service/test-service.ts'
import { MIB, pauseUpload, secretOf, upload } from '../fixture.ts'
import { base64, OFFSET_TYPE, TUS } from '../resumable/tus-requests.ts'
import { issue, problemOf, send } from '../scopes/scoped-requests.ts'
import { basic, createLink, JSON_TYPE, type Made, visit } from './link-requests.ts'

const LINKS = '/users/me/links'
const DAY_MS = 86_400_000

/** What a user changes of a link, on one instance, and what visitors see on another. */
export function linkChangesSuite(
  open: (options?: TestServiceOptions) => Promise<TwinServices>,
): void {
  describe('a link that is changed', () => {
    let twins: TwinServices
    let service: TestService
    let other: TestService
    let user: TestUser
    let token: string
    beforeAll(async () => {
      twins = await open({ maxLinkLifeMs: 30 * DAY_MS })
      ;[service, other] = twins
    })
    afterAll(() => Promise.all(twins.map((twin) => twin.stop())))
    beforeEach(async () => {
      user = await service.createUser(MIB)
      token = secretOf(user)
      await upload(service, { user, name: 'f', content: 'content' })
    })

    const make = (terms = {}): Promise<Made> =>
      createLink(service, { token, kind: 'download', prefix: '', ...terms })
    const patch = (id: string, changes: unknown, using = token) =>
      send(service, {
        method: 'PATCH',
        path: `${LINKS}/${id}`,
        headers: JSON_TYPE,
        body: JSON.stringify(changes),
        token: using,
      })
    const changed = async (id: string, changes: object, using = token) => {
      const response = await patch(id, changes, using)
      expect(await problemOf(response.clone())).toBeUndefined()
      expect(response.status).toBe(200)
      return (await response.json()) as Record<string, unknown>
    }
    const refused = async (id: string, changes: unknown, using = token) =>
      await problemOf(await patch(id, changes, using))
    const renew = (id: string, using = token) =>
      send(service, { method: 'POST', path: `${LINKS}/${id}/secret`, token: using })
    const listed = async () => {
      const response = await send(service, { path: LINKS, token })
      return ((await response.json()) as { links: readonly unknown[] }).links
    }
    const withoutSecret = ({ url: _url, secret: _secret, ...link }: Made) => link
    const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
    const gone = { status: 404, code: 'not_found' }

    it('answers with the link, and keeps what is not named', async () => {
      const made = await make({ max_uses: 2, label: 'old', password: 'p' })
      expect(await changed(made.link_id, {})).toEqual(withoutSecret(made))
      const bare = { method: 'PATCH', path: `${LINKS}/${made.link_id}`, token }
      expect(await (await send(service, bare)).json()).toEqual(withoutSecret(made))
      const expires_at = inDays(1)
      const after = await changed(made.link_id, { label: 'new', expires_at, max_uses: 5 })
      expect(after).toEqual({
        ...withoutSecret(made),
        label: 'new',
        expires_at,
        max_uses: 5,
        uses_left: 5,
      })
      expect(await listed()).toEqual([after])
      const seen = await visit(other, { secret: made.secret, headers: basic('p') })
      expect(await seen.json()).toMatchObject({ label: 'new', expires_at, uses_left: 5 })
      expect(await changed(made.link_id, { max_uses: null })).toMatchObject({ uses_left: null })
    })

    it('counts its uses from before, and ends if it has fewer', async () => {
      const { link_id: id, secret } = await make({ max_uses: 3 })
      const get = () => visit(other, { secret, path: '/f' })
      await (await get()).text()
      expect(await changed(id, { max_uses: 2 })).toMatchObject({ max_uses: 2, uses_left: 1 })
      expect(await (await get()).text()).toBe('content')
      expect((await visit(other, { secret, path: '/f', method: 'HEAD' })).status).toBe(404)
      expect(await changed(id, { max_uses: 1 })).toMatchObject({ max_uses: 1, uses_left: 0 })
      expect(await problemOf(await get())).toMatchObject(gone)
      expect(await changed(id, { max_uses: 3 })).toMatchObject({ uses_left: 1 })
      expect(await (await get()).text()).toBe('content')
    })

    it('lives no longer than the operator permits, and works again once it may', async () => {
      const { link_id: id, secret } = await make({ expires_in: 1 })
      await expect
        .poll(async () => (await visit(other, { secret })).status, { timeout: 5000 })
        .toBe(404)
      expect(await refused(id, { expires_at: inDays(31) })).toMatchObject({
        status: 400,
        parameter: 'expires_at',
      })
      const { expires_at } = await changed(id, { expires_at: null })
      const life = Date.parse(String(expires_at)) - Date.now()
      expect(Math.abs(life - 30 * DAY_MS)).toBeLessThan(60_000)
      expect((await visit(other, { secret })).status).toBe(200)
    })

    it.each([
      [{ more: 1 }, 'more'],
      [{ kind: 'drop' }, 'kind'],
      [{ expires_in: 5 }, 'expires_in'],
      [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      [{ expires_at: 'tomorrow' }, 'expires_at'],
      [{ label: 'a\u0000' }, 'label'],
      [{ label: null }, 'label'],
      [{ max_uses: 0 }, 'max_uses'],
      [{ max_uses: '1' }, 'max_uses'],
      [{ password: '' }, 'password'],
      [{ password: '\ud800' }, 'password'],
      [{ max_bytes: 5 }, 'max_bytes'],
      [{ max_files: null }, 'max_files'],
    ])('is refused for %j, and changes nothing', async (changes, parameter) => {
      const made = await make()
      const problem = await refused(made.link_id, { label: 'new', ...changes })
      expect(problem).toMatchObject({ status: 400, code: 'invalid_parameter', parameter })
      expect(await listed()).toEqual([withoutSecret(made)])
    })

    it('is refused for what is no object, and for what is no link', async () => {
      const { link_id: id } = await make()
      expect(await refused(id, [])).toMatchObject({ status: 400 })
      expect(await refused('none', {})).toMatchObject({ status: 400 })
      const unknown = '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a'
      expect(await refused(unknown, {})).toMatchObject(gone)
      expect(await problemOf(await renew(unknown))).toMatchObject(gone)
      const stranger = secretOf(await service.createUser(MIB))
      expect(await refused(id, { label: 'x' }, stranger)).toMatchObject(gone)
      expect(await problemOf(await renew(id, stranger))).toMatchObject(gone)
    })

    it('is changed by a scoped token only if that has made it, and does not outlive it', async () => {
      const own = await make()
      const scope = { actions: ['read', 'share'] } as const
      const { secret: scoped, expiresAt } = await service.accessTokens.issue({
        userId: user.userId,
        label: '',
        expiresInSeconds: 3600,
        scope,
      })
      const made = await createLink(service, { token: scoped, kind: 'download', prefix: '' })
      for (const answer of [
        refused(own.link_id, { label: 'x' }, scoped),
        renew(own.link_id, scoped).then(problemOf),
      ])
        expect(await answer).toMatchObject(gone)
      expect(await changed(made.link_id, { label: 'x' }, scoped)).toMatchObject({ label: 'x' })
      for (const using of [scoped, token]) {
        expect(await refused(made.link_id, { expires_at: inDays(1) }, using)).toMatchObject({
          status: 403,
          code: 'scope_insufficient',
          required: 'expires_at',
        })
        const { expires_at } = await changed(made.link_id, { expires_at: null }, using)
        expect(expires_at).toBe(new Date(expiresAt ?? 0).toISOString())
      }
      const reading = await issue(service, user, { actions: ['read'] })
      const insufficient = { status: 403, code: 'scope_insufficient', required: 'share' }
      expect(await refused(own.link_id, {}, reading)).toMatchObject(insufficient)
      expect(await problemOf(await renew(own.link_id, reading))).toMatchObject(insufficient)
    })

    it('ends what its old password has opened', async () => {
      const { link_id: id, secret } = await make({ password: 'old' })
      const unlock = async (password: string) => {
        const body = JSON.stringify({ password })
        const opened = await visit(other, { secret, method: 'POST', headers: JSON_TYPE, body })
        return { status: opened.status, cookie: opened.headers.getSetCookie()[0]?.split(';')[0] }
      }
      const get = async (headers = {}) =>
        (await visit(other, { secret, path: '/f', headers })).status
      const { cookie: Cookie } = await unlock('old')
      expect(await get({ Cookie })).toBe(200)
      expect(await changed(id, { password: 'new' })).toMatchObject({ has_password: true })
      expect([await get({ Cookie }), await get(basic('old'))]).toEqual([401, 401])
      expect(await get(basic('new'))).toBe(200)
      const { cookie: renewed } = await unlock('new')
      expect(await changed(id, { password: null })).toMatchObject({ has_password: false })
      expect(await get()).toBe(200)
      await changed(id, { password: 'new' })
      expect([await get(), await get({ Cookie: renewed })]).toEqual([401, 401])
      expect(await get(basic('new'))).toBe(200)
    })

    it('is found by its new secret alone, on every instance', async () => {
      const made = await make()
      const response = await renew(made.link_id)
      expect(response.status).toBe(200)
      expect(response.headers.get('cache-control')).toBe('no-store')
      const renewed = (await response.json()) as Made
      expect(withoutSecret(renewed)).toEqual(withoutSecret(made))
      expect(renewed.secret).toMatch(/^crl_[A-Za-z0-9_-]{43}$/)
      expect(renewed.secret).not.toBe(made.secret)
      expect(renewed.url).toBe(`${service.url}/links/${renewed.secret}`)
      for (const twin of twins) {
        for (const path of ['', '/f', '?format=zip'])
          expect(await problemOf(await visit(twin, { ...made, path }))).toMatchObject(gone)
        expect(await (await visit(twin, { ...renewed, path: '/f' })).text()).toBe('content')
      }
      expect(await listed()).toEqual([withoutSecret(made)])
    })

    it('ends a drop by the old secret, and continues one in parts by the new one', async () => {
      const made = await make({ kind: 'drop', prefix: 'in-' })
      const { secret: old, link_id: id } = made
      const headers = { ...TUS, 'Upload-Length': '7', 'Upload-Metadata': `filename ${base64('t')}` }
      const created = await visit(other, {
        secret: old,
        path: '/uploads/',
        method: 'POST',
        headers,
      })
      const at = (created.headers.get('location') ?? '').split(old)[1] ?? ''
      const append = (secret: string, [offset, body]: [number, string]) =>
        visit(service, {
          secret,
          path: at,
          method: 'PATCH',
          body,
          headers: { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': `${offset}` },
        })
      expect((await append(old, [0, 'con'])).status).toBe(204)
      const content = Buffer.alloc(80_000)
      const what = { user, method: 'PUT', path: `/links/${old}/slow`, content } as const
      const paused = await pauseUpload(other, what)
      const { secret } = (await (await renew(id)).json()) as Made
      paused.resume()
      expect((await paused.reply).status).toBe(404)
      expect(await problemOf(await append(old, [3, 'tent']))).toMatchObject(gone)
      expect((await append(secret, [3, 'tent'])).status).toBe(204)
    })
  })
}
