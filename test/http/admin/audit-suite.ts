import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestService } from '../../support/service/test-service.ts'
import type { OpenService } from '../fixture.ts'
import { ADMIN_OPTIONS, allPages, done, newUser } from './fixture.ts'

const AT = '/admin/audit'

/** What operators did, as operators list it. */
export function adminAuditSuite(open: OpenService): void {
  describe('admin: the audit trail', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open(ADMIN_OPTIONS)
    })
    afterAll(() => service.stop())

    it('has what was done to all users and to one, newest first and page by page', async () => {
      const [path, other] = [await newUser(service), await newUser(service)]
      const grant = { path: `${path}/grants/gift/1`, body: { bytes: 5 } }
      await done(service, { method: 'PUT', ...grant, status: 201 })
      await done(service, { method: 'DELETE', path, status: 202 })
      const [userId, otherId] = [path.slice(1), other.slice(1)]
      const all = await allPages(service, { at: AT, member: 'actions', limit: 3 })
      expect(all.map(({ action, user_id }) => [action, user_id])).toEqual([
        ['user.delete', userId],
        ['grant.put', userId],
        ['user.create', otherId],
        ['user.create', userId],
      ])
      const always = { starts_at: null, ends_at: null }
      expect(all[1]).toEqual({
        action_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
        action: 'grant.put',
        user_id: userId,
        operator: null,
        details: { source: 'gift', reference: '1', bytes: 5, ...always, created: true },
        address: '127.0.0.1',
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      })
      const of = { at: `${AT}?user_id=${userId}`, member: 'actions', limit: 2 }
      expect(await allPages(service, of)).toEqual(all.filter(({ user_id: id }) => id === userId))
      const none = await done(service, { method: 'GET', at: `${AT}?user_id=nobody`, status: 200 })
      expect(none).toEqual({ actions: [], next_cursor: null })
    })
  })
}
