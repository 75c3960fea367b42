import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { generate } from 'lean-qr'
import { toSvgPath } from 'lean-qr/extras/svg'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { send } from '../http/scopes/scoped-requests.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, openWithPage, secretOf, visit } from './fixture.ts'
import { expectSound, NARROW, TOUCH, WIDE } from './looks.ts'

const DEVICES = [
  { device_id: 'camera-10', label: 'Camera/left', share: 'own', used: 300, file_count: 3 },
  { device_id: 'camera-2', label: 'Camera-left', share: 200, used: 100, file_count: 1 },
  { device_id: 'phone-1', label: null, share: 'all', used: 0, file_count: 0 },
] as const

describeInBrowser('a device of the account', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(2 ** 20)
  })

  async function openAccess(options: Partial<Parameters<typeof visit>[0]> = {}): Promise<Page> {
    const page = await visit({ browser: browser(), service, user, ...options })
    await page.locator('#access').click()
    await page.locator('.access h3').first().waitFor()
    return page
  }

  async function withDevices(): Promise<(page: Page) => Promise<unknown>> {
    const period = { startsAt: undefined, endsAt: undefined }
    for (const { device_id: reference } of DEVICES) {
      const device = { source: 'device', reference, model: 'camera', ...period }
      await service.users.putGrant({ userId: user.userId, bytes: 1000, ...device })
    }
    return (page) =>
      page.route('**/users/me/capacity', async (route) => {
        const response = await route.fetch()
        const common = { model: 'camera', bytes: 1000, reserved: 0, newest_at: null }
        const devices = DEVICES.map((device) => Object.assign({}, common, device))
        const report = (await response.json()) as object
        await route.fulfill({ response, json: { ...report, devices } })
      })
  }

  async function connect(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Connect a device' }).click()
    await page.getByRole('dialog').waitFor()
  }

  async function issue(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Issue' }).click()
    await page.getByRole('heading', { name: 'Token issued' }).waitFor()
    return page.getByLabel('Access token', { exact: true }).inputValue()
  }

  const fieldOf = (page: Page, label: string) => page.getByLabel(label, { exact: true })

  const jsonOf = async (token: string, path: string): Promise<unknown> =>
    (await send(service, { token, path })).json()

  const statusOf = async (token: string, path: string, method = 'GET') =>
    (await send(service, { token, path, method, ...(method === 'PUT' && { body: 'x' }) })).status

  it('gets a token of its own that sends files to its folder', async () => {
    const page = await openAccess({ prepare: await withDevices() })
    await connect(page)
    const device = fieldOf(page, 'What do you connect?')
    expect(await device.locator('option').allTextContents()).toEqual([
      'Camera-left (camera-2), 100 bytes of 200 bytes used',
      'Camera/left (camera-10), 300 bytes of 1000 bytes used',
      'phone-1, 0 bytes used',
      'Another program',
    ])
    await device.selectOption('camera-10')
    await expectSound(page)
    expect(await fieldOf(page, 'Its folder').inputValue()).toBe('Camera-left (camera-10)/')
    const token = await issue(page)
    expect(await jsonOf(token, '/session')).toMatchObject({
      expires_at: null,
      scope: {
        actions: ['read', 'create'],
        prefix: 'Camera-left (camera-10)/',
        device_id: 'camera-10',
        when_full: 'refuse',
      },
    })
    await page.getByRole('button', { name: 'Done' }).click()
    const entry = page.locator('.access li').filter({ hasText: 'Camera/left' })
    expect(await entry.textContent()).toContain(
      'device Camera/left, folder “Camera-left (camera-10)”, read, upload new files, valid until revoked',
    )

    // Again, it keeps its folder; the other device of that name has another one.
    await connect(page)
    expect(await device.inputValue()).toBe('camera-2')
    expect(await fieldOf(page, 'Its folder').inputValue()).toBe('Camera-left (camera-2)/')
    await issue(page)
    await page.getByRole('button', { name: 'Done' }).click()
    await connect(page)
    expect(await device.inputValue()).toBe('phone-1')
    await device.selectOption('camera-10')
    expect(await fieldOf(page, 'Its folder').inputValue()).toBe('Camera-left (camera-10)/')
  })

  it('uploads with the line that is shown', async () => {
    const page = await openAccess({ prepare: await withDevices() })
    await connect(page)
    await fieldOf(page, 'What do you connect?').selectOption('')
    await fieldOf(page, 'Name').fill(`Ann’s "cam" $(rm) !1`)
    await issue(page)
    const line = await fieldOf(page, 'Upload a first file in a terminal').inputValue()
    await promisify(execFile)('bash', ['-c', line])
    const listed = JSON.stringify(await jsonOf(secretOf(user), '/users/me/repo'))
    expect(listed).toMatch(/"Ann’s \\"cam\\" \$\(rm\) !1\/hello-[\d-]+\.txt"/)
    expect(listed).toContain('"size":6')
  })

  it('scans the address and the token from one code', async () => {
    const page = await openAccess()
    await connect(page)
    const token = await issue(page)
    const url = await fieldOf(page, 'Address').inputValue()
    expect(url).toBe(service.url)
    const code = page.getByRole('img', { name: 'QR code of the address and the token' })
    const text = JSON.stringify({ url, access_token: token })
    expect(await code.locator('path').getAttribute('d')).toBe(toSvgPath(generate(text)))
    await expectSound(page)
  })

  it('deletes the oldest files of its folder when there is no more space, if the user wants that', async () => {
    const page = await openAccess()
    await connect(page)
    await page.getByText('Your account has no devices').waitFor()
    await fieldOf(page, 'Name').fill('recorder')
    await fieldOf(page, 'When there is no more space').selectOption('evict_oldest')
    const token = await issue(page)
    expect(await jsonOf(token, '/session')).toMatchObject({
      scope: { when_full: 'evict_oldest', prefix: 'recorder/' },
    })
    await page.getByRole('button', { name: 'Done' }).click()
    await connect(page)
    await fieldOf(page, 'Name').fill('Recorder')
    expect(await fieldOf(page, 'Its folder').inputValue()).toBe('Recorder 2/')
    await fieldOf(page, 'It may').selectOption('read')
    expect(await fieldOf(page, 'Its folder').inputValue()).toBe('')
    expect(await fieldOf(page, 'When there is no more space').count()).toBe(0)
    const reader = await issue(page)
    expect(await statusOf(reader, '/users/me/repo')).toBe(200)
    expect(await statusOf(reader, '/users/me/repo/recorder/1', 'PUT')).toBe(403)
    // Without a folder, the oldest files would be anyone's.
    await page.getByRole('button', { name: 'Done' }).click()
    await connect(page)
    await fieldOf(page, 'When there is no more space').selectOption('evict_oldest')
    await fieldOf(page, 'Its folder').fill('')
    expect(await jsonOf(await issue(page), '/session')).toMatchObject({
      scope: { when_full: 'refuse', prefix: '' },
    })
  })

  describe.each([
    ['en-US', WIDE, 'You have the maximum number of tokens.'],
    ['de-DE', { width: 390, height: 844 }, 'Du hast die Höchstzahl an Zugriffstoken.'],
  ])('in %s, %j', (locale, viewport, sentence) => {
    it('is told above the buttons, in view, why it gets no token', async () => {
      const page = await openAccess({ prepare: await withDevices(), locale, viewport })
      await page.route('**/users/me/access-tokens', (route) =>
        route.request().method() === 'GET'
          ? route.continue()
          : route.fulfill({
              status: 403,
              contentType: 'application/problem+json',
              json: { status: 403, code: 'access_token_limit_exceeded', detail: 'Raw text.' },
            }),
      )
      await page.locator('.access .section-head button').last().click()
      const dialog = page.getByRole('dialog')
      await dialog.waitFor()
      expect(await overflowOf(page)).toEqual([0, 0])
      await dialog.locator('[type=submit]').click()
      const alert = dialog.getByRole('alert')
      await alert.getByText(sentence).waitFor()
      expect(await alert.textContent()).not.toContain('Raw text')
      expect(await isOnTop(page, '[role=alert]')).toBe(true)
    })
  })

  it('is shown its token on a phone without scrolling', async () => {
    const page = await openAccess({ ...TOUCH, viewport: { ...NARROW, height: 844 } })
    await connect(page)
    await issue(page)
    await page.locator('.code').waitFor()
    expect(await overflowOf(page)).toEqual([0, 0])
  })
})

/** How far what the dialog shows goes beyond it. */
async function overflowOf(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.querySelector('.dialog')
    return [scrollWidth - clientWidth, scrollHeight - clientHeight]
  })()`)
}

/** Whether the middle of the element is in the window, and nothing is before it. */
async function isOnTop(page: Page, selector: string): Promise<unknown> {
  return page.evaluate(`(() => {
    const element = document.querySelector('.dialog ${selector}')
    const { x, y, width, height } = element.getBoundingClientRect()
    return element.contains(document.elementFromPoint(x + width / 2, y + height / 2))
  })()`)
}
