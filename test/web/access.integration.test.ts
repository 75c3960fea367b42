import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { send } from '../http/scopes/scoped-requests.ts'
import { upload } from '../http/fixture.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, openWithPage, visitAs } from './fixture.ts'
import { expectSound } from './looks.ts'

describeInBrowser('access tokens', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(1000)
  })

  const statusOf = async (token: string, path: string, method = 'GET') =>
    (await send(service, { token, path, method, ...(method === 'PUT' && { body: 'x' }) })).status

  async function openAccess(): Promise<Page> {
    const page = await visitAs({ browser: browser(), service, user })
    await page.getByRole('button', { name: 'Links and devices' }).click()
    await page.getByRole('heading', { name: 'Links and devices', level: 2 }).waitFor()
    return page
  }

  it('stay closed after a sign-in if they were asked for just before the session ended', async () => {
    const page = await visitAs({ browser: browser(), service, user })
    const isGone = Promise.withResolvers<void>()
    await page.route('**/assets/access-view-*.js', async (route) => {
      await isGone.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Links and devices' }).click()
    for (const { tokenId } of await service.accessTokens.list(user.userId)) {
      await service.accessTokens.revoke({ userId: user.userId, tokenId })
    }
    // As when the user comes back to the tab.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    const field = page.getByLabel('Access token', { exact: true })
    await field.waitFor()
    isGone.resolve()
    // `Response.finished` has no deadline, and sometimes never ends.
    const isLoaded = `performance.getEntriesByType('resource').some(({ name }) => name.includes('/access-view-'))`
    await expect.poll(() => page.evaluate(isLoaded)).toBe(true)
    const again = { userId: user.userId, label: '', expiresInSeconds: undefined }
    await field.fill((await service.accessTokens.issue(again)).secret)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByText('Nothing here yet').isVisible()).toBe(true)
  })

  it('connect a camera that can only upload, and are revoked', async () => {
    await upload(service, { user, name: 'secret', content: 'x' })
    const page = await openAccess()
    await page.getByRole('button', { name: 'Connect a device' }).click()
    await page.getByLabel('Name', { exact: true }).fill('camera')
    await page.getByLabel('It may').selectOption('Upload new files')
    await page.getByLabel('Its folder').fill('cam1')
    await expectSound(page)
    await page.getByRole('button', { name: 'Issue' }).click()
    const token = await page.getByLabel('Access token', { exact: true }).inputValue()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()

    expect(await statusOf(token, '/users/me/repo/cam1/1', 'PUT')).toBe(200)
    expect(await statusOf(token, '/users/me/repo/cam1/1', 'PUT')).toBe(412)
    expect(await statusOf(token, '/users/me/repo/other', 'PUT')).toBe(403)
    expect(await statusOf(token, '/users/me/repo/secret')).toBe(403)

    const entry = page.getByRole('listitem').filter({ hasText: 'camera' })
    const words = await entry.textContent()
    expect(words).toContain('folder “cam1”, upload new files, valid until revoked')
    await expectSound(page)
    await page.getByRole('button', { name: 'Revoke camera' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await entry.waitFor({ state: 'detached' })
    expect(await statusOf(token, '/users/me/repo/cam1/2', 'PUT')).toBe(403)
  })

  it('are closed by a button that had the focus, which returns to the one that opened them', async () => {
    const page = await openAccess()
    await page.getByRole('button', { name: 'All files' }).click()
    await page.getByRole('searchbox').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('access')
  })
})
