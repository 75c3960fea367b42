import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readVersion } from '../../../src/build-info.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { MIB, type OpenService, upload } from '../fixture.ts'
import { ADMIN_OPTIONS, done } from './fixture.ts'

const AT = '/admin/overview'

/** The figures of the whole service, as operators see them. */
export function adminOverviewSuite(open: OpenService): void {
  describe('admin: the overview', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open(ADMIN_OPTIONS)
    })
    afterAll(() => service.stop())

    const overview = () => done(service, { method: 'GET', at: AT, status: 200 })

    it('has what all users have, ranks them, and changes with them', async () => {
      expect(await overview()).toEqual({
        taken_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
        users: { active: 0, suspended: 0, deleted: 0 },
        files: 0,
        used: 0,
        reserved: 0,
        garbage: 0,
        last_backup: null,
        history: { used: 0, count: 0 },
        webhooks: null,
        fullest: [],
        largest: [],
        growth: [],
        version: await readVersion(),
        uptime: expect.any(Number) as number,
        free_disk: expect.any(Object) as object,
        settings: expect.any(Array) as unknown[],
      })
      const big = await service.createUser(MIB)
      const small = await service.createUser(1)
      await upload(service, { user: big, name: 'a', content: 'x'.repeat(1000) })
      await upload(service, { user: small, name: 'a', content: 'x'.repeat(900) })
      await service.users.setUserStatus(small.userId, 'suspended')
      const users = await Promise.all(
        [big, small].map(async ({ userId }) => {
          const shown = await done(service, { method: 'GET', path: `/${userId}`, status: 200 })
          const { devices: _, ...figures } = shown
          return figures
        }),
      )
      expect(await overview()).toMatchObject({
        users: { active: 1, suspended: 1, deleted: 0 },
        files: 2,
        used: 1900,
        largest: users,
        fullest: users.toReversed(),
      })
      await service.users.deleteUser(big.userId)
      expect(await overview()).toMatchObject({
        users: { active: 0, suspended: 1, deleted: 1 },
        files: 1,
        used: 900,
        largest: [{ user_id: small.userId, status: 'suspended' }],
      })
    })

    it('has the settings in force, with no secret of theirs', async () => {
      const { settings } = (await overview()) as { settings: readonly { name: string }[] }
      const settingOf = (name: string) => settings.find((setting) => setting.name === name)
      const maxFiles = { name: 'MAX_FILES', value: '1000', set: true, secret: false }
      expect(settingOf('MAX_FILES')).toEqual(maxFiles)
      const logLevel = { name: 'LOG_LEVEL', value: 'info', set: false, secret: false }
      expect(settingOf('LOG_LEVEL')).toEqual(logLevel)
      expect(settingOf('ADMIN_TOKEN')).toMatchObject({ value: null, secret: true })
    })

    it('has a row for each recorded day', async () => {
      const { ledger } = service
      const { today } = await ledger.listDailyUsage(1)
      const usage = { day: today, users: 3, files: 4, used: 5 }
      await ledger.recordDailyUsage({ usage, keptDays: 400 })
      const date = new Date(today).toISOString().slice(0, 10)
      expect(await overview()).toMatchObject({ growth: [{ date, users: 3, files: 4, used: 5 }] })
    })
  })
}
