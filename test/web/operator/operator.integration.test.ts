import { createHash } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ADMIN_TOKEN, call, done } from '../../http/admin/fixture.ts'
import { upload } from '../../http/fixture.ts'
import { createLink, visit as visitLink } from '../../http/links/link-requests.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { startWebSite } from '../../support/http/web-site.ts'
import { describeInBrowser, secretOf } from '../fixture.ts'
import { smallTargets, TOUCH } from '../looks.ts'
import {
  confirm,
  lookAgain,
  openWithOperatorPage,
  signIn,
  visitAdmin,
  visitAsOperator,
} from './fixture.ts'

describeInBrowser('the operator', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithOperatorPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(9000)
  })

  const open = (path = '/#/users') =>
    visitAsOperator({ browser: browser(), service, path, hasTestClock: true })
  const openUser = async () => {
    const page = await open(`/#/users/${user.userId}`)
    await page.getByRole('heading', { name: 'Access tokens' }).waitFor()
    return page
  }
  const listOf = async (below: string): Promise<string> =>
    JSON.stringify(
      await done(service, { method: 'GET', path: `/${user.userId}/${below}`, status: 200 }),
    )

  it('signs in with the admin token, which no script finds then', async () => {
    const visited = { browser: browser(), service, path: '/#/users' }
    const page = await visitAdmin(visited)
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.url()))
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('Enter a token.')
    await signIn(page, 'not-the-token')
    await page.getByText('This is not the admin token').waitFor()
    await signIn(page, ADMIN_TOKEN)
    await page.getByRole('rowheader', { name: user.userId }).waitFor()
    expect(await page.evaluate('document.cookie')).toBe('')
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0)
    expect(page.url() + sent.join(' ')).not.toContain(ADMIN_TOKEN)
    const cookies = await page.context().cookies()
    expect(cookies).toMatchObject([{ name: 'admin_session', httpOnly: true, sameSite: 'Strict' }])
  })

  it('signs in with the token of a link, which neither address nor history keeps', async () => {
    const visited = { browser: browser(), service, path: `/#admin_token=${ADMIN_TOKEN}` }
    const page = await visitAdmin(visited)
    await page.getByRole('complementary', { name: 'Service' }).waitFor()
    await page.goto(`${page.url()}#/users/${user.userId}`)
    await page.getByRole('heading', { name: 'Access tokens' }).waitFor()
    expect(page.url()).toContain(`#/users/${user.userId}`)
    await page.goBack()
    expect(page.url()).not.toContain('admin_token')
    // In the open tab, in which a fragment loads no page.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token', { exact: true }).waitFor()
    await page.goto(`${page.url().split('#')[0]}#admin_token=not-the-token`)
    await page.getByText('This is not the admin token').waitFor()
    expect(page.url()).not.toContain('admin_token')
    await page.goto(`${page.url().split('#')[0]}#admin_token=${ADMIN_TOKEN}`)
    await page.getByRole('complementary', { name: 'Service' }).waitFor()
    expect(page.url()).not.toContain('admin_token')
  })

  it('shows other ports of the host no token, and goes on beside what their pages plant', async () => {
    const page = await open()
    const site = await startWebSite('', [
      'admin_session=planted; Path=/admin',
      'admin_session=planted; Path=/admin/users',
    ])
    const other = await page.context().newPage()
    await other.goto(site.sameSite)
    await other.close()
    await site.stop()
    expect(site.cookies.join(' ')).toMatch(/admin_session=\d+\./)
    expect(site.cookies.join(' ')).not.toContain(ADMIN_TOKEN)
    await page.reload()
    await page.getByRole('link', { name: user.userId }).click()
    await page.getByRole('button', { name: 'Suspend' }).click()
    await confirm(page, 'Suspend')
    await page.getByText('Suspended').waitFor()
  })

  it('signs out, in every tab', async () => {
    const page = await open()
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByRole('rowheader', { name: user.userId }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in as operator' }).waitFor()
    expect(await page.context().cookies()).toEqual([])
    await lookAgain(other)
    await other.getByText('You were signed out').waitFor()
  })

  it('sees users with what they use, and finds one by id', async () => {
    await upload(service, { user, name: 'a.bin', content: 'x'.repeat(2048) })
    const page = await open()
    const row = page.getByRole('row').filter({ hasText: user.userId })
    expect(await row.textContent()).toContain('2 KiB of 9.7 KiB')
    await upload(service, { user, name: 'b.bin', content: 'x'.repeat(1024) })
    await lookAgain(page)
    await expect.poll(() => row.textContent()).toContain('3 KiB of 9.7 KiB')
    await page.getByRole('searchbox').fill(user.userId)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: user.userId }).waitFor()
    await page.goBack()
    await row.waitFor()
    expect(await page.getByRole('searchbox').inputValue()).toBe(user.userId)
  })

  it('makes users, with an id and without', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'New user' }).click()
    await page.getByLabel('Id', { exact: true }).fill('not an id')
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Id', { exact: true }).fill('newcomer')
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.getByRole('heading', { name: 'newcomer' }).waitFor()
    expect((await call(service, { method: 'GET', path: '/newcomer' })).status).toBe(200)
    await page.getByRole('link', { name: 'All users' }).click()
    await page.getByRole('button', { name: 'New user' }).click()
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.getByRole('heading', { name: /^[0-9a-f-]{36}$/ }).waitFor()
  })

  it('suspends a user, and lets one in again', async () => {
    const page = await openUser()
    const statusOf = async () =>
      (await done(service, { method: 'GET', path: `/${user.userId}`, status: 200 }))['status']
    await page.getByRole('button', { name: 'Suspend' }).click()
    expect(await statusOf()).toBe('active')
    await confirm(page, 'Suspend')
    await page.getByText('Suspended').waitFor()
    expect(await statusOf()).toBe('suspended')
    await page.getByRole('button', { name: 'Reactivate' }).click()
    await confirm(page, 'Reactivate')
    await page.getByText('Active').waitFor()
    expect(await statusOf()).toBe('active')
  })

  it('deletes a user only when the id is typed', async () => {
    const page = await openUser()
    await page.getByRole('button', { name: 'Delete user' }).click()
    const dialog = page.getByRole('dialog')
    const action = dialog.getByRole('button', { name: 'Delete user' })
    await dialog.getByRole('textbox').fill(user.userId.slice(1))
    expect(await action.isDisabled()).toBe(true)
    await page.keyboard.press('Enter')
    expect((await call(service, { method: 'GET', path: `/${user.userId}` })).status).toBe(200)
    await dialog.getByRole('textbox').fill(user.userId)
    await action.click()
    await page.getByText('is being deleted').waitFor()
    const row = page.getByRole('row').filter({ hasText: user.userId })
    await row.getByText('Being deleted').waitFor()
  })

  it('lets a device join and leave, which moves the capacity', async () => {
    const page = await openUser()
    await page.getByRole('button', { name: 'Add a device' }).click()
    await page.getByLabel('Device id').fill('camera-17')
    await page.getByLabel('Model').fill('camera')
    await confirm(page, 'Add')
    await page
      .getByRole('listitem')
      .filter({ hasText: 'camera-17' })
      .getByText('200 bytes')
      .waitFor()
    await page.getByRole('button', { name: 'Add a device' }).click()
    await page.getByLabel('Device id').fill('bell-1')
    await page.getByLabel('Capacity (optional)').fill('1.5')
    await page.getByLabel('Unit').selectOption('MiB')
    await confirm(page, 'Add')
    await page.getByRole('listitem').filter({ hasText: 'bell-1' }).getByText('1.5 MiB').waitFor()
    expect(await listOf('devices')).toContain('1572864')
    await page.getByRole('button', { name: 'Remove camera-17' }).click()
    expect(await listOf('devices')).toContain('camera-17')
    await confirm(page, 'Remove')
    await page.getByRole('listitem').filter({ hasText: 'camera-17' }).waitFor({ state: 'detached' })
    expect(await listOf('devices')).not.toContain('camera-17')
  })

  it('names a device, and changes what it may store', async () => {
    const camera = {
      method: 'PUT',
      path: `/${user.userId}/devices/camera-17`,
      status: 201,
    } as const
    await done(service, camera)
    const page = await openUser()
    const change = page.getByRole('button', { name: 'Change camera-17' })
    await change.click()
    await page.getByLabel('Name (optional)').fill('Front door')
    await page.getByLabel('It may store').selectOption('fixed')
    await page.getByLabel('Size', { exact: true }).fill('2')
    await confirm(page, 'Save')
    await page.getByText('0 bytes of 2 GiB used').waitFor()
    expect(await listOf('devices')).toContain('"share":2147483648')
    await change.click()
    expect(await page.getByLabel('Size', { exact: true }).inputValue()).toBe('2')
    await page.getByLabel('It may store').selectOption('own')
    await confirm(page, 'Save')
    await expect.poll(() => listOf('devices')).toContain('"share":"own"')
    expect(await listOf('devices')).toContain('"label":"Front door"')
  })

  it('finds users by a part of their id in any case, in the order of people', async () => {
    for (const id of ['sort-10', 'sort-2', 'Sort-1', 'sort-B', 'sort-a'])
      await done(service, { method: 'PUT', path: `/${id}`, status: 201 })
    const page = await open()
    await page.getByRole('searchbox').fill('sort-')
    const shown = () => page.getByRole('rowheader').allTextContents()
    await expect.poll(shown).toEqual(['Sort-1', 'sort-2', 'sort-10', 'sort-a', 'sort-B'])
  })

  it('says what of a form the service does not take', async () => {
    const page = await openUser()
    await page.getByRole('button', { name: 'Grant capacity' }).click()
    await page.getByLabel('Capacity', { exact: true }).fill('2')
    await page.getByLabel('Source').fill('device')
    await page.getByLabel('Reference').fill('x')
    await confirm(page, 'Grant')
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('source')
  })

  it('issues a token that is shown once, and revokes it', async () => {
    const page = await openUser()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Issue a token' }).click()
    await page.getByLabel('Name', { exact: true }).fill('phone')
    await page.getByRole('radio', { name: '1 day' }).check()
    await confirm(page, 'Issue')
    await page.getByRole('button', { name: 'Copy token' }).click()
    await page.getByText('Token copied.').waitFor()
    const secret = String(await page.evaluate('navigator.clipboard.readText()'))
    const headers = { cookie: `access_token=${secret}` }
    const capacity = () => fetch(`${service.url}/users/me/capacity`, { headers })
    expect((await capacity()).status).toBe(200)
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('listitem').filter({ hasText: 'phone' }).waitFor()
    expect(await page.content()).not.toContain(secret)
    await page.getByRole('button', { name: 'Revoke phone' }).click()
    expect((await capacity()).status).toBe(200)
    await confirm(page, 'Revoke')
    await page.getByText(/^revoked /).waitFor()
    expect((await capacity()).status).toBe(403)
  })

  it('ends a link of the user, and tells nothing of those of a suspended one', async () => {
    const link = { token: secretOf(user), kind: 'download', name: 'a.txt', label: 'For \u05d0' }
    const made = await createLink(service, link)
    const page = await openUser()
    const entry = page.getByRole('listitem').filter({ hasText: 'For \u05d0' })
    await entry.getByText('shares “a.txt”').waitFor()
    await page.getByRole('button', { name: 'Revoke the link For' }).click()
    expect((await visitLink(service, made)).status).toBe(200)
    await confirm(page, 'Revoke')
    await entry.waitFor({ state: 'detached' })
    expect((await visitLink(service, made)).status).toBe(404)
    await createLink(service, link)
    await lookAgain(page)
    await entry.waitFor()
    await service.users.setUserStatus(user.userId, 'suspended')
    await lookAgain(page)
    await page.getByText('Suspended').waitFor()
    await entry.waitFor({ state: 'detached' })
  })

  it('finds nowhere again a token that was issued, nor what the service keeps of it', async () => {
    const page = await openUser()
    const answers: string[] = []
    // A browser can lose the body of a response before a test asks for it.
    await page.route('**', async (route) => {
      const response = await route.fetch()
      answers.push(await response.text())
      await route.fulfill({ response })
    })
    await page.getByRole('button', { name: 'Issue a token' }).click()
    await page.getByLabel('Name', { exact: true }).fill('phone')
    await confirm(page, 'Issue')
    const secret = await page.getByRole('textbox', { name: 'Access token' }).inputValue()
    expect(await allIn(page)).toContain(secret)
    expect(answers.join(' ')).toContain(secret)
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('listitem').filter({ hasText: 'phone' }).waitFor()
    await expectNowhere()

    answers.length = 0
    await page.reload()
    await page.getByRole('listitem').filter({ hasText: 'phone' }).waitFor()
    await expectNowhere()
    const answered = answers.join(' ')
    expect(answered).toContain('"label":"phone"')
    for (const text of [secret, secretOf(user), ...keptOf(secret)]) {
      expect(answered).not.toContain(text)
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' })

    async function expectNowhere(): Promise<void> {
      const all = await allIn(page)
      expect(all).toContain('phone')
      for (const text of [secret, secretOf(user), ...keptOf(secret)])
        expect(all).not.toContain(text)
    }
  })

  it('sees charts of what the service does, and the health of its parts', async () => {
    const page = await open()
    const panel = page.getByRole('complementary', { name: 'Service' })
    await expect.poll(() => panel.textContent()).toContain('DatabaseOK')
    await expect.poll(() => panel.textContent()).toContain('Object storeOK')
    // What comes before the first figures does not count.
    const figures = page.waitForResponse(/\/metrics$/)
    await lookAgain(page)
    await figures
    await upload(service, { user, name: 'big.bin', content: 'x'.repeat(5000) })
    await upload(service, { user, name: 'too-big.bin', content: 'x'.repeat(50_000) })
    await lookAgain(page)
    await expect.poll(() => panel.textContent()).toContain('0 in progress, 4.8 KiB')
    await expect.poll(() => panel.textContent()).toContain('1 × capacity_exceeded')
    const line = panel.getByRole('img', {
      name: /Received over time, maximum (?!0 )[\d.]+ (bytes|KiB)\/s/,
    })
    expect(await line.locator('path').first().getAttribute('d')).toMatch(/^M.*L.*Z$/)
  })

  it('is told which part fails', async () => {
    const page = await open()
    const panel = page.getByRole('complementary', { name: 'Service' })
    const problem = { code: 'unavailable', database: 'ok', object_store: 'failing' }
    await page.route('**/readyz', (route) => route.fulfill({ status: 503, json: problem }))
    await lookAgain(page)
    await expect.poll(() => panel.textContent()).toContain('Object storeFailing')
    expect(await panel.textContent()).toContain('DatabaseOK')
    await page.unroute('**/readyz')
    await lookAgain(page)
    await expect.poll(() => panel.textContent()).toContain('Object storeOK')
  })

  it('is told of a shutdown by the service alone, not by what stands in front of it', async () => {
    const page = await open()
    const panel = page.getByRole('complementary', { name: 'Service' })
    const json = { code: 'unavailable', detail: 'The service is shutting down.' }
    await page.route('**/readyz', (route) => route.fulfill({ status: 503, json }))
    await lookAgain(page)
    await expect.poll(() => panel.textContent()).toContain('DatabaseShutting down')
    await page.unroute('**/readyz')
    await page.route('**/readyz', (route) => route.fulfill({ status: 502, body: '<h1>Bad</h1>' }))
    await lookAgain(page)
    await expect.poll(() => panel.textContent()).toContain('DatabaseUnknown')
  })

  it('works with the keyboard, and the focus goes where a link leads', async () => {
    const page = await open()
    await page.getByRole('link', { name: user.userId }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: user.userId }).waitFor()
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toBe(user.userId)
    await page.getByRole('button', { name: 'Suspend' }).waitFor()
    await page.keyboard.press('Tab')
    await expect.poll(focused).toBe('Files')
    await page.keyboard.press('Tab')
    await expect.poll(focused).toBe('Suspend')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe('Suspend')
  })

  it('sees the service below a user on a low screen, not over them', async () => {
    const page = await openUser()
    const tokens = page.getByRole('heading', { name: 'Access tokens' })
    for (const [width, height] of [
      [844, 390],
      [640, 400],
    ] as const) {
      await page.setViewportSize({ width, height })
      const [last, panel] = [
        await tokens.boundingBox(),
        await page.locator('.service').boundingBox(),
      ]
      expect(panel?.y).toBeGreaterThan(last?.y ?? Infinity)
    }
  })

  it('has targets of 44 pixels for fingers', async () => {
    await upload(service, { user, name: 'ranked.txt', content: 'x' })
    const page = await visitAsOperator({ browser: browser(), service, ...TOUCH })
    await page.locator('.ranking .name').first().waitFor()
    expect(await smallTargets(page)).toEqual([])
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByRole('rowheader', { name: user.userId }).waitFor()
    expect(await smallTargets(page)).toEqual([])
  })
})

/** All that is in the page, shown or not, in its forms, in its address, and in what it keeps in the browser. */
async function allIn(page: Page): Promise<string> {
  const all = await page.evaluate(`JSON.stringify([
    document.documentElement.outerHTML,
    [...document.querySelectorAll('input, textarea')].map(({ value }) => value),
    location.href, document.title, history.state, document.cookie, { ...localStorage }, { ...sessionStorage },
  ])`)
  return String(all)
}

function keptOf(secret: string): readonly string[] {
  const digest = createHash('sha256').update(secret).digest()
  return [digest.toString('hex'), digest.toString('base64url')]
}
