import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import { remove } from '../file-requests.ts'
import { download, expectProblem, jsonOf, MIB, type OpenService, upload } from '../fixture.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ADMIN_OPTIONS, allPages, call, done } from './fixture.ts'

/** What a user has replaced and deleted, as operators list and restore it. */
export function adminHistorySuite(open: OpenService): void {
  describe('admin: history', () => {
    let service: TestService
    let user: TestUser
    let path: string
    beforeAll(async () => {
      service = await open({ ...ADMIN_OPTIONS, historyLifetimeMs: 3_600_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
      path = `/${user.userId}`
    })

    async function pastOf(name: string, content: string): Promise<string> {
      const { version } = jsonOf(await upload(service, { user, name, content }))
      await remove(service, { user, name })
      return String(version)
    }
    const list = (query = '') =>
      done(service, { method: 'GET', path: `${path}/history${query}`, status: 200 })
    const restore = (version: string, body: object = {}) =>
      call(service, { method: 'POST', path: `${path}/history/${version}/restore`, body })

    it('is listed newest end first, by name, by prefix and page by page', async () => {
      const versions = [await pastOf('a', 'one'), await pastOf('b', 'two'), await pastOf('a', '3')]
      const newestFirst = versions.toReversed()
      const pages = await allPages(service, {
        path: `${path}/history`,
        member: 'versions',
        limit: 2,
      })
      expect(pages.map(({ version }) => version)).toEqual(newestFirst)
      expect((await list('?name=b'))['versions']).toMatchObject([
        { version: versions[1], name: 'b', size: 3, ended_as: 'deleted' },
      ])
      const inFolder = await pastOf('photos/b', 'four')
      expect((await list('?prefix=photos/'))['versions']).toMatchObject([{ version: inFolder }])
    })

    it('is restored, also under another name or over a file', async () => {
      const version = await pastOf('a', 'one')
      await upload(service, { user, name: 'a', content: 'new' })
      expectProblem(await restore(version), { status: 409, code: 'file_exists' })
      expect(jsonOf(await restore(version, { name: 'b' }))).toEqual({
        name: 'b',
        version,
        size: 3,
        replaced: false,
      })
      expect((await download(service, { user, name: 'b' })).body.toString()).toBe('one')
      await remove(service, { user, name: 'b' })
      const over = await restore(version, { name: 'a', overwrite: true })
      expect(jsonOf(over)).toMatchObject({ name: 'a', replaced: true })
      const trail = { method: 'GET', at: `/admin/audit?user_id=${user.userId}`, status: 200 }
      expect(await done(service, trail)).toMatchObject({
        actions: [
          { action: 'history.restore', details: { version, overwrite: true } },
          { action: 'history.restore', details: { version, overwrite: false } },
        ],
      })
    })

    it('knows no other version, and no user that is not active', async () => {
      const unknown = { status: 404, code: 'not_found' } as const
      expectProblem(await restore(createVersion()), unknown)
      const version = await pastOf('a', 'one')
      const elsewhere = { method: 'GET', path: '/nobody/history' } as const
      expectProblem(await call(service, elsewhere), unknown)
      await service.users.setUserStatus(user.userId, 'suspended')
      const suspended = { status: 403, code: 'user_suspended' } as const
      const listed = await call(service, { method: 'GET', path: `${path}/history` })
      expectProblem(listed, suspended)
      expectProblem(await restore(version), suspended)
      await service.users.deleteUser(user.userId)
      const gone = { status: 404, code: 'not_found' } as const
      const listedGone = await call(service, { method: 'GET', path: `${path}/history` })
      expectProblem(listedGone, gone)
      expectProblem(await restore(version), gone)
    })
  })
}
