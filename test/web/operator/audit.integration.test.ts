import { afterAll, beforeAll, expect, it } from 'vitest'
import { done } from '../../http/admin/fixture.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { describeInBrowser } from '../fixture.ts'
import { violationsIn } from '../looks.ts'
import { lookAgain, openWithOperatorPage, visitAsOperator } from './fixture.ts'

describeInBrowser('the audit trail, as the operator sees it', (browser) => {
  let service: TestService
  beforeAll(async () => {
    service = await openWithOperatorPage()
  })
  afterAll(() => service?.stop())

  it('has what was done to all users and to one, in words, and grows', async () => {
    const suspend = { method: 'PATCH', body: { status: 'suspended' }, status: 200 }
    for (const id of ['alice', 'bob'])
      await done(service, { method: 'PUT', path: `/${id}`, status: 201 })
    const device = { path: '/alice/devices/Front.door', body: { model: 'camera', bytes: 2048 } }
    await done(service, { method: 'PUT', ...device, status: 201 })
    const token = { path: '/bob/access-tokens', body: { label: 'a\u202eb' } }
    await done(service, { method: 'POST', ...token, status: 201 })
    const page = await visitAsOperator({ browser: browser(), service, hasTestClock: true })
    await page.getByRole('link', { name: 'Audit trail' }).click()
    const entries = page.getByRole('list', { name: 'Audit trail' }).getByRole('listitem')
    const texts = async () =>
      (await entries.allTextContents()).map((text) =>
        text.replace(/[A-Z][a-z]+day, .*\s[AP]M/, '').replace(/[0-9a-f-]{36}/, 'its id'),
      )
    await expect
      .poll(texts)
      .toEqual([
        'Operator signed in, 127.0.0.1',
        'Access token issued, bob, its id, a\ufffdb, 127.0.0.1',
        'Device added or changed, alice, Front.door, camera, 2 KiB, share: the whole account, 127.0.0.1',
        'User created, bob, 127.0.0.1',
        'User created, alice, 127.0.0.1',
      ])
    expect(await violationsIn(page)).toEqual([])
    await done(service, { ...suspend, path: '/bob' })
    await lookAgain(page)
    await expect.poll(() => entries.first().textContent()).toMatch(/^Status set.*bob, Suspended/)
    await entries.first().getByRole('link', { name: 'bob' }).click()
    await page.getByRole('heading', { name: 'bob', exact: true }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Audit trail' }).click()
    await page.getByRole('heading', { name: 'Audit trail of bob' }).waitFor()
    await expect
      .poll(texts)
      .toEqual([
        'Status set, Suspended, 127.0.0.1',
        'Access token issued, its id, a\ufffdb, 127.0.0.1',
        'User created, 127.0.0.1',
      ])
    await page.goto(`${page.url().split('#')[0]}#/users/nobody/audit`)
    await page.getByText('Nothing has been done yet.').waitFor()
  })
})
