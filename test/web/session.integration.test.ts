import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { MIB, usageOf } from '../http/fixture.ts'
import { startBrowser } from '../support/http/browser.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { startWebSite } from '../support/http/web-site.ts'
import { describeInBrowser, openWithPage, secretOf, visit, visitAs } from './fixture.ts'

describeInBrowser('signing in', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(1000)
  })
  const open = (path = '/') => visit({ browser: browser(), service, path })

  it('takes a token, and leaves it where no script finds it', async () => {
    const page = await open()
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.url()))
    await signIn(page, secretOf(user))
    await page.getByText('Nothing here yet').waitFor()
    expect(await page.evaluate('document.cookie')).toBe('')
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0)
    expect(page.url() + sent.join(' ')).not.toContain('crt_')
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' })
  })

  it('is not needed where the product has set the cookie', async () => {
    const page = await open('/livez')
    const [name = '', value = ''] = user.cookie.split('=')
    await page
      .context()
      .addCookies([{ name, value, url: service.url, httpOnly: true, sameSite: 'Lax' }])
    await page.goto(service.url)
    await page.getByText('Nothing here yet').waitFor()
    expect(await page.getByRole('button', { name: 'Sign in' }).count()).toBe(0)
  })

  it('says what is wrong with a token, and takes another', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('Enter your access token.')
    await signIn(page, `crt_${'A'.repeat(43)}`)
    await page.getByText('This access token is not valid').waitFor()
    await signIn(page, ` ${secretOf(user)}\n`)
    await page.getByText('Nothing here yet').waitFor()
  })

  it('is done by a link whose token is gone from the address at once, and was sent to nobody', async () => {
    const page = await open('/livez')
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.url()))
    await page.goto(`${service.url}/#access_token=${secretOf(user)}`)
    await page.getByText('Nothing here yet').waitFor()
    expect(page.url()).toBe(`${service.url}/`)
    expect(sent.map((url) => new URL(url).hash + new URL(url).search).join('')).not.toContain(
      'crt_',
    )
    await page.reload()
    await page.getByText('Nothing here yet').waitFor()
  })

  it('says that a link is no longer good', async () => {
    const page = await open(`/#access_token=crt_${'A'.repeat(43)}`)
    await page.getByText('This access token is not valid').waitFor()
    expect(page.url()).toBe(`${service.url}/`)
  })

  it('is not done by a link in place of who is signed in, before they agree', async () => {
    const page = await visitAs({ browser: browser(), service, user })
    const other = await service.createUser(1000)
    const question = page.getByText(`You are signed in as “${user.userId}”`)
    for (const path of ['', '/?new']) {
      await page.goto(`${service.url}${path}#access_token=${secretOf(other)}`)
      await question.waitFor()
      expect(page.url()).not.toContain('crt_')
      await page.getByRole('button', { name: `Stay signed in as ${user.userId}` }).click()
      await page.getByText('Nothing here yet').waitFor()
      expect((await page.context().cookies())[0]?.value).toBe(secretOf(user))
    }
    await page.goto(`${service.url}/?new#access_token=${secretOf(other)}`)
    await page.getByRole('button', { name: 'Sign in with this link' }).click()
    await page.locator('.user', { hasText: other.userId }).waitFor()
    expect((await page.context().cookies())[0]?.value).toBe(secretOf(other))
  })

  it('a link that is no good leaves who is signed in there, with a word why', async () => {
    const page = await visitAs({ browser: browser(), service, user })
    await page.goto(`${service.url}/#access_token=crt_${'A'.repeat(43)}`)
    await page.getByRole('button', { name: 'Sign in with this link' }).click()
    await page.getByText('This access token is not valid').waitFor()
    await page.locator('.user', { hasText: user.userId }).waitFor()
    expect((await page.context().cookies())[0]?.value).toBe(secretOf(user))
  })

  it('a link is asked about on any host but the loopback', async () => {
    const lan = await startBrowser('--host-resolver-rules=MAP lan.test 127.0.0.1')
    onTestFinished(() => lan.close())
    const url = `http://lan.test:${service.port}`
    const path = `/#access_token=${secretOf(user)}`
    const page = await visit({ browser: lan, service: { url }, path })
    await page.getByRole('heading', { name: 'Sign in with this link?' }).waitFor()
    expect(page.url()).toBe(`${url}/`)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
    expect(await page.context().cookies()).toEqual([])
    await page.goto(url + path)
    await page.getByRole('button', { name: 'Sign in with this link' }).click()
    await page.getByText('Nothing here yet').waitFor()
  })

  it('sends nothing to a page on another port that planted a token; signing out and in again mends it', async () => {
    const thief = await service.createUser(MIB)
    user = await service.createUser(MIB)
    const page = await open()
    const send = () =>
      page.evaluate<number>(`fetch('/users/me/repo/tax-return.txt', { method: 'PUT', body: 'secret' })
        .then(({ status }) => status)`)
    await signIn(page, secretOf(user))
    await page.getByText('Nothing here yet').waitFor()
    for (const path of ['/users/me', '/users', '/users/me/repo']) {
      await plant(page, `${thief.cookie}; Path=${path}`)
      expect(await send()).toBe(403)
      await page.reload()
      const word = page.getByRole('alert')
      // Of what is asked for at the start, the list alone is below `/users/me/repo`.
      await expect.poll(() => word.textContent()).toContain('two different access tokens')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await word.waitFor({ state: 'detached' })
      expect(await page.context().cookies(`${service.url}/users/me/repo/x`)).toEqual([])
      await signIn(page, secretOf(user))
      await page.locator('.user', { hasText: user.userId }).waitFor()
      await page.getByText('Nothing here yet').waitFor()
    }
    expect(await send()).toBe(200)
    expect(await usageOf(service, user)).toMatchObject({ fileCount: 1 })
    expect(await usageOf(service, thief)).toMatchObject({ fileCount: 0, reserved: 0 })
  })

  it('is not over without a word in an open tab, when another page plants a token', async () => {
    const thief = await service.createUser(MIB)
    const page = await visitAs({ browser: browser(), service, user })
    await plant(page, `${thief.cookie}; Path=/users/me`)
    // As when the user comes back to the tab, which has noticed by itself if it was hidden.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    const word = page.getByRole('alert')
    await expect.poll(() => word.textContent()).toContain('two different access tokens')
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(1)
  })

  it.each(['/users/me', '/session'])(
    'again is enough to be rid of a planted token: %s',
    async (path) => {
      const thief = await service.createUser(MIB)
      const page = await visitAs({ browser: browser(), service, user })
      await plant(page, `${thief.cookie}; Path=${path}`)
      await page.reload()
      await page.getByText('two different access tokens').waitFor()
      await signIn(page, secretOf(user))
      await page.locator('.user', { hasText: user.userId }).waitFor()
      await page.reload()
      await page.locator('.user', { hasText: user.userId }).waitFor()
      const cookies = await page.context().cookies(`${service.url}/users/me/capacity`)
      expect(cookies.map(({ value }) => value)).toEqual([secretOf(user)])
    },
  )

  it('says so again where a planted token is out of its reach', async () => {
    const thief = await service.createUser(MIB)
    const page = await visitAs({ browser: browser(), service, user })
    await plant(page, `${thief.cookie}; Path=/users/me/capacity`)
    await page.reload()
    await page.getByText('two different access tokens').waitFor()
    const word = page.getByRole('alert')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await word.waitFor({ state: 'detached' })
    await plant(page, `${thief.cookie}; Path=/users/me/capacity`)
    await signIn(page, secretOf(user))
    await expect.poll(() => word.textContent()).toContain('delete the cookies of this address')
    await page.context().clearCookies()
    await signIn(page, secretOf(user))
    await page.locator('.user', { hasText: user.userId }).waitFor()
  })

  it('is undone by signing out, in every tab', async () => {
    const page = await visitAs({ browser: browser(), service, user })
    const other = await page.context().newPage()
    await other.goto(service.url)
    await other.getByText('Nothing here yet').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [page, other]) await tab.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.context().cookies()).toEqual([])
    await signIn(other, secretOf(user))
    for (const tab of [page, other]) await tab.getByText('Nothing here yet').waitFor()
  })

  it('is asked for again, with a word why, when the token is revoked', async () => {
    const page = await visitAs({ browser: browser(), service, user })
    for (const { tokenId } of await service.accessTokens.list(user.userId)) {
      await service.accessTokens.revoke({ userId: user.userId, tokenId })
    }
    // The page may have noticed by itself.
    await page
      .getByRole('searchbox')
      .fill('x', { timeout: 1000 })
      .catch(() => undefined)
    const word = page.getByRole('alert')
    await expect.poll(() => word.textContent()).toContain('Your access token is no longer valid')
  })

  it('works under a base path', async () => {
    const service = await openWithPage({ basePath: '/a/b' })
    onTestFinished(() => service.stop())
    const user = await service.createUser(1000)
    const page = await visit({
      browser: browser(),
      service,
      path: '/a/b',
    })
    await signIn(page, secretOf(user))
    await page.getByText('Nothing here yet').waitFor()
    expect((await page.context().cookies())[0]?.path).toBe('/a/b')
  })
})

async function signIn(page: Page, secret: string): Promise<void> {
  await page.getByLabel('Access token', { exact: true }).fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Opens a page of another port of the service's host that leaves this cookie. */
async function plant(planted: Page, cookie: string): Promise<void> {
  const site = await startWebSite('', [cookie])
  const page = await planted.context().newPage()
  await page.goto(site.sameSite)
  await page.close()
  await site.stop()
}
