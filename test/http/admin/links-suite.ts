import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLink, type Made, visit } from '../links/link-requests.ts'
import { expectProblem, jsonOf, MIB, type OpenService, secretOf } from '../fixture.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ADMIN_OPTIONS, allPages, call, done } from './fixture.ts'

/** The links of a user, as operators list and revoke them. */
export function adminLinksSuite(open: OpenService): void {
  describe('admin: links', () => {
    let service: TestService
    let user: TestUser
    let path: string
    beforeAll(async () => {
      service = await open(ADMIN_OPTIONS)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
      path = `/${user.userId}/links`
    })

    const make = (prefix: string): Promise<Made> =>
      createLink(service, { token: secretOf(user), kind: 'drop', prefix, password: 'secret word' })
    const list = () => call(service, { method: 'GET', path })
    const revoke = (id: string) => call(service, { method: 'DELETE', path: `${path}/${id}` })

    it('are listed oldest first, page by page, without what would open them', async () => {
      const made = [await make('a-'), await make('b-'), await make('c-')]
      const listed = await allPages(service, { path, member: 'links', limit: 2 })
      expect(listed).toEqual(made.map(({ url: _url, secret: _secret, ...link }) => link))
      expect(listed[0]).toMatchObject({ kind: 'drop', prefix: 'a-', has_password: true })
    })

    it('are changed, those of this user alone', async () => {
      const { url: _url, secret, ...link } = await make('a-')
      const change = (body: object, at = path) =>
        call(service, { method: 'PATCH', path: `${at}/${link.link_id}`, body })
      const { userId } = await service.createUser(MIB)
      const elsewhere = await change({ label: 'new' }, `/${userId}/links`)
      expectProblem(elsewhere, { status: 404, code: 'not_found' })
      expectProblem(await change({ more: 1 }), { status: 400, code: 'invalid_parameter' })
      const changed = await change({ label: 'new', password: null, max_files: 5 })
      expect(jsonOf(changed)).toEqual({
        ...link,
        label: 'new',
        has_password: false,
        max_files: 5,
        files_left: 5,
      })
      expect(await (await visit(service, { secret })).json()).toMatchObject({ label: 'new' })
    })

    it('are revoked, those of this user alone', async () => {
      const [link, kept] = [await make('a-'), await make('b-')]
      const { userId } = await service.createUser(MIB)
      const elsewhere = { method: 'DELETE', path: `/${userId}/links/${link.link_id}` }
      expectProblem(await call(service, elsewhere), { status: 404, code: 'not_found' })
      expect((await visit(service, link)).status).toBe(200)
      expect((await revoke(link.link_id)).status).toBe(204)
      expect((await visit(service, link)).status).toBe(404)
      expectProblem(await revoke(link.link_id), { status: 404, code: 'not_found' })
      const { links } = await done(service, { method: 'GET', path, status: 200 })
      expect(links).toMatchObject([{ link_id: kept.link_id }])
    })

    it('are those of active users only', async () => {
      const { link_id: id } = await make('a-')
      await service.users.setUserStatus(user.userId, 'suspended')
      const suspended = { status: 403, code: 'user_suspended' } as const
      expectProblem(await list(), suspended)
      expectProblem(await revoke(id), suspended)
      await service.users.deleteUser(user.userId)
      const gone = { status: 404, code: 'not_found' } as const
      expectProblem(await list(), gone)
      expectProblem(await revoke(id), gone)
    })
  })
}
