import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isWithoutZip, readZip } from '../../support/read-zip.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { uploadAll } from '../file-requests.ts'
import { expectProblem, MIB, type OpenService } from '../fixture.ts'
import { ADMIN_OPTIONS, call } from './fixture.ts'

/** The export of a user's files. */
export function adminArchiveSuite(open: OpenService): void {
  describe.skipIf(isWithoutZip)('admin: the archive of a user', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ ...ADMIN_OPTIONS, maxDownloadsPerUser: 1 })
      user = await service.createUser(MIB)
      await uploadAll(service, { user, names: ['a', 'b-1', 'b-2'] })
    })
    afterAll(() => service.stop())

    const get = (query = '', method = 'GET', userId: string = user.userId) =>
      call(service, { method, path: `/${userId}/archive${query}` })
    const names = async (query: string) =>
      (await readZip((await get(query)).body)).map(({ name }) => name)

    it('has all files, or those that were asked for', async () => {
      expect(await names('')).toEqual(['a', 'b-1', 'b-2'])
      expect(await names('?prefix=b')).toEqual(['b-1', 'b-2'])
      expect(await names('?name=b-2&name=a')).toEqual(['a', 'b-2'])
      const head = await get('?prefix=b', 'HEAD')
      const { length } = (await get('?prefix=b')).body
      expect(head).toMatchObject({ status: 200, headers: { 'content-length': String(length) } })
    })

    it('is there for a suspended user, and not for one who is unknown or deleted', async () => {
      await service.users.setUserStatus(user.userId, 'suspended')
      expect(await names('')).toHaveLength(3)
      const missing = { status: 404, code: 'not_found' } as const
      expectProblem(await get('', 'GET', 'nobody'), missing)
      expectProblem(await get('?name=none'), missing)
      await service.users.deleteUser(user.userId)
      expectProblem(await get(), missing)
    })
  })
}
