import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, done } from '../../http/admin/fixture.ts'
import { remove } from '../../http/file-requests.ts'
import { beginUpload } from '../../support/http/tus-client.ts'
import { upload } from '../../http/fixture.ts'
import { createLink } from '../../http/links/link-requests.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { describeInBrowser, openPage, secretOf, type Visit } from '../fixture.ts'
import { NARROW, violationsIn, WIDE } from '../looks.ts'
import { openWithOperatorPage, signIn, toAdmin } from './fixture.ts'

const LONG_NAME = `${'a-name-that-is-long-and-has-no-place-to-break-it'.repeat(4)}.mov`

describeInBrowser('each view of the operator', (browser) => {
  describe.each([
    ['light', WIDE],
    ['dark', WIDE],
    ['light', NARROW],
    ['dark', NARROW],
  ] as const)('%s, %j', (colorScheme, viewport) => {
    let service: TestService
    let user: TestUser
    let opened: Visit
    beforeAll(async () => {
      service = await openWithOperatorPage({
        baseCapacity: 2 ** 30,
        historyLifetimeMs: 3_600_000,
      })
      user = await service.createUser(2 ** 20)
      for (const [path, bytes] of [
        ['alice', 5_000_000],
        ['an-id-that-is-as-long-as-one-may-be-and-has-no-place-to-break-it', 0],
        ['bob', 700],
      ] as const) {
        await done(service, { method: 'PUT', path: `/${path}`, status: 201 })
        const device = { method: 'PUT', path: `/${path}/devices/camera-1`, body: { bytes } }
        await done(service, { ...device, status: 201 })
      }
      const path = '/bob'
      await done(service, { method: 'PATCH', path, body: { status: 'suspended' }, status: 200 })
      const below = `/${user.userId}`
      const device = { path: `${below}/devices/Front.door`, body: { model: 'camera' } }
      await done(service, { method: 'PUT', ...device, status: 201 })
      const grant = { bytes: 5e9, ends_at: '2099-01-01T00:00:00Z' }
      const promotion = { path: `${below}/grants/promotion/spring`, body: grant }
      await done(service, { method: 'PUT', ...promotion, status: 201 })
      await upload(service, { user, name: 'a.bin', content: Buffer.alloc(300_000) })
      await upload(service, { user, name: LONG_NAME, content: 'x' })
      await remove(service, { user, name: LONG_NAME })
      await upload(service, { user, name: LONG_NAME, content: 'x', query: '?visibility=users' })
      const link = { token: secretOf(user), kind: 'download', name: LONG_NAME, password: 'p' }
      await createLink(service, link)
      const content = 'x'.repeat(40_000)
      const film = { cookie: user.cookie, name: LONG_NAME, length: 700_000, content }
      await beginUpload(service, film)
      opened = await openPage(toAdmin({ browser: browser(), service, colorScheme, viewport }))
    })
    afterAll(async () => {
      await opened?.page.context().close()
      await service?.stop()
    })

    /** Asks axe what keeps whom from using what the page shows. */
    async function expectAccessible(view: string): Promise<void> {
      const { page, expectClean } = opened
      // What moves is not judged before it has come to rest.
      await page.waitForTimeout(300)
      expect({ view, found: await violationsIn(page) }).toEqual({ view, found: [] })
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
      expect({ view, width }).toEqual({ view, width: viewport.width })
      expectClean()
    }

    it('signing in looks right', async () => {
      const { page } = opened
      await page.getByRole('heading', { name: 'Sign in as operator' }).waitFor()
      await expectAccessible('sign-in')
      await signIn(page, 'mistyped')
      await page.getByRole('alert').waitFor()
      await expectAccessible('sign-in-refused')
    })

    it('all figures look right', async () => {
      const { page } = opened
      await growEvenly(page)
      await signIn(page, ADMIN_TOKEN)
      await page.getByRole('region', { name: 'Largest users' }).waitFor()
      await expectAccessible('overview')
      await page.getByRole('button', { name: /^Settings/ }).click()
      await page.getByRole('dialog').getByText('as by default').click()
      await expectAccessible('settings')
      await page.keyboard.press('Escape')
    })

    it('the users look right', async () => {
      const { page } = opened
      await page.getByRole('navigation').getByRole('link', { name: 'Users' }).click()
      await page.getByRole('rowheader', { name: 'alice' }).waitFor()
      await page.getByRole('searchbox').fill('nobody')
      await page.keyboard.press('Enter')
      await page.getByText('No id and no device contains “nobody”').waitFor()
      await expectAccessible('nobody')
      await page.getByRole('searchbox').fill('')
      await page.getByRole('rowheader', { name: 'alice' }).waitFor()
      await expectAccessible('users')
      await page.getByRole('button', { name: 'New user' }).click()
      await page.getByRole('dialog').waitFor()
      await expectAccessible('new-user')
      await page.keyboard.press('Escape')
    })

    it('one user looks right', async () => {
      const { page } = opened
      await page.getByRole('link', { name: user.userId }).click()
      await page.getByRole('heading', { name: 'Access tokens' }).waitFor()
      await page
        .getByRole('img', { name: /over time/ })
        .first()
        .waitFor()
      await expectAccessible('user')
    })

    it('the files of a user look right', async () => {
      const { page } = opened
      await page.getByRole('link', { name: 'Files' }).click()
      await page.getByRole('row', { name: /a\.bin/ }).waitFor()
      await expectAccessible('files')
      await page.getByRole('button', { name: 'Delete a.bin' }).click()
      await expectAccessible('delete-file')
      await page.keyboard.press('Escape')
      await page.getByRole('searchbox').fill('nothing')
      await page.getByText('No name contains').waitFor()
      await expectAccessible('no-files')
      await page.getByRole('link', { name: user.userId }).click()
    })

    it('what operators did to the user looks right', async () => {
      const { page } = opened
      const trail = page.getByRole('main').getByRole('link', { name: 'Audit trail' })
      await trail.click()
      await page.getByText('Device added or changed').waitFor()
      await expectAccessible('audit-trail')
      await page.goBack()
      await trail.waitFor()
    })

    it('what the user has replaced or deleted looks right', async () => {
      const { page } = opened
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      await page.getByRole('button', { name: /^Restore a-name/ }).waitFor()
      await expectAccessible('history')
    })

    it.each([
      ['Delete user', 'delete'],
      ['Add a device', 'device'],
      ['Grant capacity', 'grant'],
      ['Issue a token', 'token'],
      ['Revoke test', 'revoke'],
      ['Discard a-name', 'discard'],
    ])('the dialog looks right: %s', async (button, view) => {
      const { page } = opened
      await page.getByRole('button', { name: button }).click()
      await page.getByRole('dialog').waitFor()
      await expectAccessible(view)
      await page.keyboard.press('Escape')
    })

    it('a token that was issued looks right', async () => {
      const { page } = opened
      await page.getByRole('button', { name: 'Issue a token' }).click()
      await page.getByRole('button', { name: 'Issue', exact: true }).click()
      await page.getByText('Copy it or scan the code now').waitFor()
      await expectAccessible('issued')
      await page.keyboard.press('Escape')
    })

    it('operators look right', async () => {
      const { page } = opened
      await page.getByRole('link', { name: 'Operators' }).click()
      await page.getByText('No operators').waitFor()
      await expectAccessible('no-operators')
      await page.getByRole('button', { name: 'Add an operator' }).click()
      await page.getByLabel('Name', { exact: true }).fill('n'.repeat(64))
      await expectAccessible('add-operator')
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByText('shown only now').waitFor()
      await expectAccessible('added-operator')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Remove nnn' }).waitFor()
      await expectAccessible('operators')
    })
  })
})

/** Shows the page the figures of a month, and waiting webhooks. */
async function growEvenly(page: Page): Promise<void> {
  const growth = Array.from({ length: 30 }, (_, day) => ({
    date: new Date(Date.UTC(2026, 9, 1 + day)).toISOString().slice(0, 10),
    users: 2 + Math.floor(day / 15),
    files: Math.floor(day ** 1.5 / 80),
    used: 200_000 + 3000 * day + 9000 * (day % 5),
  }))
  await page.route('**/admin/overview', async (route) => {
    const response = await route.fetch()
    const json = (await response.json()) as object
    const changed = { growth, taken_at: '2026-10-31T00:00:00.000Z' }
    const webhooks = { parked: 2, waiting: 17 }
    await route.fulfill({ response, json: { ...json, ...changed, webhooks } })
  })
}
