import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { upload } from '../http/fixture.ts'
import { issue } from '../http/scopes/scoped-requests.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, names, openWithPage, visitAs } from './fixture.ts'
import { expectSound, NARROW, violationsIn, WIDE } from './looks.ts'

describeInBrowser('the devices of an account', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(2 ** 20)
    for (const [reference, sizes] of [
      ['camera-2', [10]],
      ['camera-10', [300, 400]],
    ] as const) {
      const period = { startsAt: undefined, endsAt: undefined }
      const device = { source: 'device', reference, model: 'camera', ...period }
      await service.users.putGrant({ userId: user.userId, bytes: 1000, ...device })
      const token = await issue(service, user, { device_id: reference })
      const owner = { ...user, cookie: `access_token=${token}` }
      for (const size of sizes)
        await upload(service, {
          user: owner,
          name: `${reference}/${size}.bin`,
          content: Buffer.alloc(size),
        })
    }
    await upload(service, { user, name: 'own.txt', content: 'x' })
  })

  const shown = (page: Page) => page.getByRole('list', { name: 'Devices', exact: true })

  it('are listed by what they use, and show their own files', async () => {
    const page = await visitAs({ browser: browser(), service, user })
    await shown(page).waitFor()
    const lines = await shown(page).getByRole('listitem').allTextContents()
    expect(lines[0]).toMatch(/^camera-10700 bytes used, 2 files, newest/)
    expect(lines[1]).toMatch(/^camera-210 bytes used, 1 file, newest/)
    await page.getByRole('button', { name: 'Files of camera-10' }).click()
    await expect.poll(() => names(page)).toEqual(['camera-10/300.bin', 'camera-10/400.bin'])
    await page.getByText('Files of “camera-10”').waitFor()
    await expectSound(page)
    await page.setViewportSize(NARROW)
    await page.locator('.capacity summary').click()
    expect(await violationsIn(page)).toEqual([])
    await page.setViewportSize(WIDE)
    // What others store meanwhile is not the device's.
    await upload(service, { user, name: 'later.txt', content: 'x' })
    await expect.poll(() => page.getByText('4 files of').count()).toBe(0)
    expect(await names(page)).toHaveLength(2)
    await page.getByRole('button', { name: 'Show all files' }).click()
    await expect.poll(() => names(page)).toContain('own.txt')
  })
})
