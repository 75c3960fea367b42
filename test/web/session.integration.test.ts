import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { TestService, TestUser } from '../support/test-service.ts'
import { describeInBrowser, openWithPage, secretOf, visit, visitAs } from './fixture.ts'

describeInBrowser('signing in', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(1000)
  })
  const open = (path = '/') => visit({ browser: browser(), service, path })

  it('takes a token, and leaves it where no script finds it', async () => {
    const { page, context, expectClean } = await open()
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.url()))
    await signIn(page, secretOf(user))
    await page.getByText('Nothing here yet').waitFor()
    expect(await page.evaluate('document.cookie')).toBe('')
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0)
    expect(page.url() + sent.join(' ')).not.toContain('crt_')
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' })
    expectClean()
    await context.close()
  })

  it('says what is wrong with a token, and takes another', async () => {
    const { page, context } = await open()
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('Enter your access token.')
    await signIn(page, `crt_${'A'.repeat(43)}`)
    await page.getByText('This access token is not valid').waitFor()
    await signIn(page, ` ${secretOf(user)}\n`)
    await page.getByText('Nothing here yet').waitFor()
    await context.close()
  })

  it('is done by a link whose token is gone from the address at once, and was sent to nobody', async () => {
    const { context } = await open('/livez')
    const page = await context.newPage()
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
    await context.close()
  })

  it('says that a link is no longer good', async () => {
    const { page, context } = await open(`/#access_token=crt_${'A'.repeat(43)}`)
    await page.getByText('This access token is not valid').waitFor()
    expect(page.url()).toBe(`${service.url}/`)
    await context.close()
  })

  it('is undone by signing out, in every tab', async () => {
    const { page, context } = await visitAs({ browser: browser(), service, user })
    const other = await context.newPage()
    await other.goto(service.url)
    await other.getByText('Nothing here yet').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [page, other]) await tab.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await context.cookies()).toEqual([])
    await signIn(other, secretOf(user))
    for (const tab of [page, other]) await tab.getByText('Nothing here yet').waitFor()
    await context.close()
  })

  it('is asked for again, with a word why, when the token is revoked', async () => {
    const { page, context } = await visitAs({ browser: browser(), service, user })
    for (const { tokenId } of await service.accessTokens.list(user.userId)) {
      await service.accessTokens.revoke({ userId: user.userId, tokenId })
    }
    await page.getByRole('searchbox').fill('x')
    const word = page.getByRole('alert')
    await expect.poll(() => word.textContent()).toContain('Your access token is no longer good')
    await context.close()
  })

  it('works under a base path', async () => {
    const service = await openWithPage({ basePath: '/a/b' })
    const user = await service.createUser(1000)
    const { page, context, expectClean } = await visit({
      browser: browser(),
      service,
      path: '/a/b',
    })
    await signIn(page, secretOf(user))
    await page.getByText('Nothing here yet').waitFor()
    expect((await context.cookies())[0]?.path).toBe('/a/b')
    expectClean()
    await context.close()
    await service.stop()
  })
})

async function signIn(page: Page, secret: string): Promise<void> {
  await page.getByLabel('Access token', { exact: true }).fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
