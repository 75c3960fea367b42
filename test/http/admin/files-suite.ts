import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { list as listOwn, uploadAll } from '../file-requests.ts'
import { ask, expectProblem, jsonOf, MIB, type OpenService, upload } from '../fixture.ts'
import { ADMIN_OPTIONS, allPages, call, done, expectFault } from './fixture.ts'

const MISSING = { status: 404, code: 'not_found' } as const

/** The files of a user, as operators list and delete them. */
export function adminFilesSuite(open: OpenService): void {
  describe('admin: the files of a user', () => {
    let service: TestService
    let user: TestUser
    let path: string
    beforeAll(async () => {
      service = await open({ ...ADMIN_OPTIONS, historyLifetimeMs: 3_600_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
      path = `/${user.userId}/files`
    })

    const list = (query = '') =>
      done(service, { method: 'GET', path: `${path}${query}`, status: 200 })
    const names = async (query = '') =>
      ((await list(query))['files'] as { readonly name: string }[]).map(({ name }) => name)
    const remove = (name: string, headers: Readonly<Record<string, string>> = {}) =>
      call(service, { method: 'DELETE', path: `${path}/${name}`, headers })
    const suspend = () => service.users.setUserStatus(user.userId, 'suspended')

    it('are those that the user lists, private ones included, also once the user is suspended', async () => {
      const content = 'hello'
      await upload(service, { user, name: 'a', content, query: '?visibility=private' })
      await uploadAll(service, { user, names: ['b-1', 'b-2', 'B-3'] })
      const own = jsonOf(await listOwn(service, { user }))
      const whole = { files: own['files'], next_cursor: null }
      expect(await list()).toEqual(whole)
      await suspend()
      expect(await list()).toEqual(whole)
      expect(await names('?prefix=b')).toEqual(['b-1', 'b-2'])
      expect(await names('?contains=B-&order=-name')).toEqual(['b-2', 'b-1', 'B-3'])
      expect(await names('?order=-size&limit=1')).toEqual(['a'])
      expect(await list('?delimiter=-')).toMatchObject({
        files: [{ name: 'a' }],
        prefixes: ['B-', 'b-'],
        next_cursor: null,
      })
      const paged = await allPages(service, { path, member: 'files', limit: 1 })
      expect(paged).toEqual(own['files'])
    })

    it('are not those of another user, of nobody, or of one who is deleted', async () => {
      const other = await service.createUser(MIB)
      await upload(service, { user: other, name: 'other', content: 'x' })
      expect(await names()).toEqual([])
      await upload(service, { user, name: 'a', content: 'x' })
      await service.users.deleteUser(user.userId)
      expectProblem(await call(service, { method: 'GET', path }), MISSING)
      expectProblem(await remove('a'), MISSING)
    })

    it('are listed only by a query that says what is wanted', async () => {
      const refused = async (query: string, parameter: string) =>
        expectFault(await call(service, { method: 'GET', path: `${path}?${query}` }), parameter)
      await refused('order=colour', 'order')
      await refused('delimiter=--', 'delimiter')
      await refused('delimiter=-&order=size', 'delimiter')
      await refused('prefix=a%2F%2Fb', 'prefix')
      await refused('contains=%FF', 'contains')
      await refused('cursor=WyJuYW1lIl0', 'cursor')
      await refused('limit=0', 'limit')
    })

    it.each(['active', 'suspended'] as const)(
      'are deleted as by the user, who is %s: followed, restorable, and the bytes are free',
      async (status) => {
        const { version } = jsonOf(await upload(service, { user, name: 'a b', content: 'hello' }))
        await upload(service, { user, name: 'c', content: 'x' })
        if (status === 'suspended') await suspend()
        expect(await remove('a%20b')).toMatchObject({ status: 204 })
        const again = expectProblem(await remove('a%20b'), MISSING)
        expect(again).toMatchObject({ detail: 'The file was not found.' })
        expect(await names()).toEqual(['c'])
        const shown = await done(service, { method: 'GET', path: `/${user.userId}`, status: 200 })
        expect(shown).toMatchObject({ status, capacity: { used: 1, file_count: 1 } })
        await service.users.setUserStatus(user.userId, 'active')
        const feed = jsonOf(await ask(service, { method: 'GET', path: '/users/me/history', user }))
        expect(feed['versions']).toMatchObject([{ version, name: 'a b', ended_as: 'deleted' }])
        const read = await service.ledger.readChanges({
          userId: user.userId,
          userCreatedAt: (await service.users.findUser(user.userId))?.createdAt ?? 0,
          after: 0,
          limit: 10,
        })
        expect(read?.changes.map(({ type }) => type)).toEqual([
          'file.created',
          'file.created',
          'file.deleted',
        ])
      },
    )

    it('are deleted only as the preconditions of the request say', async () => {
      const { etag } = jsonOf(await upload(service, { user, name: 'a', content: 'old' }))
      await upload(service, { user, name: 'a', content: 'new' })
      const changed = { status: 412, code: 'precondition_failed' } as const
      expectProblem(await remove('a', { 'if-match': `"${String(etag)}"` }), changed)
      expectProblem(await remove('a', { 'if-none-match': '*' }), changed)
      const malformed = { status: 400, code: 'invalid_parameter' } as const
      expectProblem(await remove('a', { 'if-match': String(etag) }), malformed)
      expect(await names()).toEqual(['a'])
      expect(await remove('a', { 'if-match': '*' })).toMatchObject({ status: 204 })
    })

    it('are not deleted by a name that no file can have', async () => {
      const malformed = { status: 400, code: 'invalid_file_name' } as const
      for (const name of ['%00', 'a%2F%2Fb', '..%5c', 'a'.repeat(256)]) {
        expectProblem(await remove(name), malformed)
      }
      expectProblem(await remove(''), MISSING)
    })
  })
}
