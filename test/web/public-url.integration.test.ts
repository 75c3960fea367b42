import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addressPages } from '../../src/http/pages/public-url.ts'
import { ADMIN_OPTIONS, ADMIN_TOKEN } from '../http/admin/fixture.ts'
import { upload } from '../http/fixture.ts'
import { buildLinkPage, buildOperatorPage, buildPage } from '../support/http/page.ts'
import { type StrippingProxy, startStrippingProxy } from '../support/http/stripping-proxy.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, pick, secretOf, visit } from './fixture.ts'

describeInBrowser('the page of a service with PUBLIC_URL', (browser) => {
  let proxy: StrippingProxy
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    proxy = await startStrippingProxy('/drive')
    const built = {
      user: await buildPage(),
      operator: await buildOperatorPage(),
      link: await buildLinkPage(),
    }
    const { user: page, operator: operatorPage, link } = await addressPages(built, proxy.url)
    const pages = { page, operatorPage, linkPage: link }
    service = await openEmbedded({ ...ADMIN_OPTIONS, ...pages, publicUrl: proxy.url })
    proxy.forwardTo(service.port)
  })
  afterAll(async () => {
    await service?.stop()
    await proxy?.stop()
  })

  /** The page at one of its addresses, with a file in the list. */
  async function open(url: string): Promise<Page> {
    user = await service.createUser(2 ** 30)
    const page = await visit({ browser: browser(), service: { url } })
    await page.getByLabel('Access token', { exact: true }).fill(secretOf(user))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Nothing here yet').waitFor()
    await pick(page, [{ path: 'photo.txt', content: 'A photo' }])
    await page.getByRole('heading', { name: '1 file uploaded' }).waitFor()
    return page
  }

  const share = (page: Page) =>
    page.getByRole('button', { name: 'Share photo.txt' }).click({ force: true })

  it.each(['proxy', 'service'] as const)(
    'makes links that visitors can open, wherever it was opened: at the %s',
    async (at) => {
      const page = await open({ proxy, service }[at].url)
      await share(page)
      await page.getByRole('button', { name: 'Create link' }).click()
      const address = await page.getByLabel('Link', { exact: true }).inputValue()
      expect(address).toMatch(new RegExp(`^${proxy.url}/links/crl_`))
      const visitor = await visit({ browser: browser(), service: { url: address }, path: '' })
      await visitor.getByText('photo.txt').first().waitFor()
      expect(proxy.strays).toEqual([])
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
      await page.getByRole('button', { name: 'Links and devices' }).click()
      await page.getByRole('button', { name: /^Edit/ }).click()
      await page.getByRole('button', { name: 'New address …' }).click()
      await page.getByRole('button', { name: 'New address', exact: true }).click()
      const renewed = page.getByLabel('Link', { exact: true })
      expect(await renewed.inputValue()).toMatch(new RegExp(`^${proxy.url}/links/crl_`))
    },
  )

  it('tells devices the public address, also of a token that an operator issues', async () => {
    const page = await open(service.url)
    await page.locator('#access').click()
    await page.getByRole('button', { name: 'Connect a device' }).click()
    await page.getByLabel('Name', { exact: true }).fill('camera')
    await page.getByRole('button', { name: 'Issue' }).click()
    expect(await page.getByLabel('Address', { exact: true }).inputValue()).toBe(proxy.url)
    const command = page.getByLabel('Upload a first file in a terminal')
    expect(await command.inputValue()).toContain(`"${proxy.url}/users/me/repo/`)
    const operator = await visit({
      browser: browser(),
      service: { url: `http://127.0.0.1:${service.adminPort}` },
      path: `/#/users/${user.userId}`,
    })
    await operator.getByLabel('Token', { exact: true }).fill(ADMIN_TOKEN)
    await operator.getByRole('button', { name: 'Sign in' }).click()
    await operator.getByRole('button', { name: 'Issue a token' }).click()
    await operator.getByRole('button', { name: 'Issue', exact: true }).click()
    expect(await operator.getByLabel('Address', { exact: true }).inputValue()).toBe(proxy.url)
  })

  it('shows the public address of a file', async () => {
    const page = await open(service.url)
    await share(page)
    await page.getByText('Advanced').click()
    await page.getByRole('radio', { name: /^Public/ }).check()
    const shown = page.getByLabel('Address', { exact: true })
    expect(await shown.inputValue()).toBe(`${proxy.url}/users/${user.userId}/repo/photo.txt`)
  })

  it('copies the public addresses of several files', async () => {
    const page = await open(service.url)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    for (const name of ['a.txt', 'b.txt'])
      await upload(service, { user, name, query: '?visibility=public', content: 'x' })
    for (const name of ['a.txt', 'b.txt'])
      await page.getByRole('checkbox', { name: `Select ${name}` }).click()
    const selected = page.getByRole('group', { name: 'Selected files' })
    await selected.getByRole('button', { name: 'Share', exact: true }).click()
    await page.getByText('Advanced').click()
    await page.getByRole('button', { name: 'Copy the addresses' }).click()
    await page.getByText('Copied').waitFor()
    const base = `${proxy.url}/users/${user.userId}/repo`
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `${base}/a.txt\n${base}/b.txt`,
    )
  })
})
