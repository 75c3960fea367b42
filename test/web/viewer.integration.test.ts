import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { change, remove } from '../http/file-requests.ts'
import { upload } from '../http/fixture.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, openWithPage, uploaded, visitAs } from './fixture.ts'
import { violationsIn } from './looks.ts'
import { drawScenes } from './photos.ts'

describeInBrowser('the viewer', (browser) => {
  let service: TestService
  let user: TestUser
  let photo: Buffer
  let page: Page
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
    const [drawn] = await drawScenes(browser(), [{ width: 400, height: 300, hue: 200 }])
    photo = drawn ?? Buffer.alloc(0)
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(2 ** 26)
  })

  const dialog = (name: string) => page.getByRole('dialog', { name, exact: true })

  /** Opens the page of a user with these files, and the first named one in the viewer. */
  async function open(files: Readonly<Record<string, Buffer | string>>, name: string) {
    for (const [each, content] of Object.entries(files)) {
      await upload(service, { user, name: each, content })
    }
    page = await visitAs({ browser: browser(), service, user })
    await page.getByRole('button', { name, exact: true }).click()
    await dialog(name).waitFor()
  }

  it('shows what is clicked, goes to the files before and after it, and downloads by a button', async () => {
    await open(
      { 'a.jpg': photo, 'b.txt': Buffer.from('Ärger\n'), 'c.pdf': 'x', 'd.bin': 'x' },
      'a.jpg',
    )
    const width = () => page.evaluate(`document.querySelector('.viewer img').naturalWidth`)
    await expect.poll(width).toBe(400)
    expect(await page.getByRole('button', { name: 'Previous file' }).count()).toBe(0)
    expect(await violationsIn(page)).toEqual([])
    await page.keyboard.press('ArrowRight')
    await dialog('b.txt').getByText('Ärger').waitFor()
    expect(await violationsIn(page)).toEqual([])
    await page.getByRole('button', { name: 'Next file' }).click()
    await dialog('c.pdf').getByText('cannot be shown here').waitFor()
    expect(await violationsIn(page)).toEqual([])
    await page.keyboard.press('End')
    await dialog('d.bin').waitFor()
    expect(await page.getByRole('button', { name: 'Next file' }).count()).toBe(0)
    // That button had the focus.
    await page.keyboard.press('ArrowLeft')
    await dialog('c.pdf').waitFor()
    await page.keyboard.press('ArrowRight')
    await dialog('d.bin').waitFor()
    for (const link of ['Download d.bin', 'Download (1 byte)']) {
      const begun = page.waitForEvent('download')
      await page.getByRole('dialog').getByRole('link', { name: link }).click()
      expect((await begun).suggestedFilename()).toBe('d.bin')
    }
    await page.keyboard.press('Home')
    await dialog('a.jpg').waitFor()
    await page.keyboard.press('Escape')
    await dialog('a.jpg').waitFor({ state: 'detached' })
    const focused = () => page.evaluate(`document.activeElement.textContent`)
    await expect.poll(focused).toContain('a.jpg')
  })

  it('cuts a long name, and leaves its buttons and the picture on the screen', async () => {
    const name = `${'A photo with a very long name '.repeat(5)}.jpg`
    await open({ [name]: photo }, name)
    for (const width of [1280, 640, 390]) {
      await page.setViewportSize({ width, height: 400 })
      const inner = await page.evaluate(`document.querySelector('.viewer').scrollWidth`)
      expect(inner).toBe(width)
    }
  })

  it('goes to the end of a list of which not all is loaded', async () => {
    await open({ 'a.txt': 'x' }, 'a.txt')
    await page.keyboard.press('Escape')
    await page.route('**/users/me/repo?*', async (route) => {
      const at = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0)
      const names = Array.from({ length: 500 }, (_, name) => `${at * 500 + name + 1000}.bin`)
      const time = '2026-01-01T00:00:00Z'
      const times = { created_at: time, updated_at: time, visibility: 'private' }
      const files = names.map((name) => Object.assign({ name, size: 1, etag: name }, times))
      await route.fulfill({ json: { files, next_cursor: at < 3 ? String(at + 1) : null } })
    })
    await page.reload()
    const row = page.locator('.rows [role=row][data-index="0"]')
    await row.focus()
    await page.keyboard.press('End')
    const focused = () => page.evaluate(`document.activeElement.textContent`)
    await expect.poll(focused).toContain('2999.bin')
    await page.reload()
    await row.click()
    await dialog('1000.bin').waitFor()
    await page.keyboard.press('End')
    await dialog('2999.bin').getByText('2,000 of 2,000').waitFor()
  })

  it('follows the file that another device renames, shows the next after a deletion, and closes after the last', async () => {
    await open({ 'a.txt': 'first', 'b.txt': 'second' }, 'a.txt')
    await remove(service, { user, name: 'a.txt' })
    await dialog('b.txt').getByText('second').waitFor()
    await upload(service, { user, name: 'b.txt', content: 'newer' })
    await dialog('b.txt').getByText('newer').waitFor()
    await upload(service, { user, name: 'c.txt', content: 'third' })
    await change(service, { user, name: 'b.txt', body: { name: 'd.txt' } })
    await dialog('d.txt').getByText('newer').waitFor()
    await remove(service, { user, name: 'c.txt' })
    await remove(service, { user, name: 'd.txt' })
    await dialog('d.txt').waitFor({ state: 'detached' })
    await expect.poll(() => page.getByText('Nothing here yet').isVisible()).toBe(true)
  })

  it('has all actions on the file that is shown, and closes for those that need the page', async () => {
    await open({ 'a.jpg': photo, 'b.txt': 'b', 'c.txt': 'c' }, 'a.jpg')
    await page.keyboard.press('ArrowRight')
    await dialog('b.txt').getByRole('button', { name: 'Actions for b.txt' }).click()
    await dialog('Actions for b.txt').getByRole('button', { name: 'Rename' }).click()
    // Last in the list from now on.
    await page.getByLabel('New name').fill('z.txt')
    await page.keyboard.press('Enter')
    await dialog('z.txt').getByText('3 of 3').waitFor()
    await dialog('z.txt').getByRole('button', { name: 'Actions for z.txt' }).click()
    await dialog('Actions for z.txt').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('“z.txt” was deleted.').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    // Below that of the rename.
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByRole('button', { name: 'z.txt', exact: true }).waitFor()
  })

  it('leaves the focus where it was when an action closes it', async () => {
    await open({ 'a.txt': 'a', 'b.txt': 'b' }, 'a.txt')
    await page.keyboard.press('ArrowRight')
    await page.getByRole('button', { name: 'Actions for b.txt' }).click()
    await dialog('Actions for b.txt').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('“b.txt” was deleted.').waitFor()
    const focused = () => page.evaluate(`document.activeElement.textContent`)
    await expect.poll(focused).toBe('a.txt')
  })

  it('reads the beginning of a text, which stays text, and says when it is none', async () => {
    const long = Buffer.from(`<b>bold</b>${'ä'.repeat(200_000)}`)
    await open({ 'a.txt': long, 'b.txt': Buffer.from([1, 0, 2]), 'c.md': '' }, 'a.txt')
    const text = page.getByRole('region', { name: 'a.txt' })
    await expect.poll(async () => (await text.textContent())?.length).toBe(11 + 131_066)
    expect((await text.textContent())?.startsWith('<b>bold</b>ää')).toBe(true)
    await page.getByText('This is the beginning of the file, 256 KiB.').waitFor()
    await page.keyboard.press('ArrowRight')
    await dialog('b.txt').getByText('cannot be shown here').waitFor()
  })

  it('says what it cannot show: an image that is none, and what is empty', async () => {
    await open({ 'a.jpg': 'no image', 'b.mp4': 'no film', 'c.png': '' }, 'a.jpg')
    const focused = () => page.evaluate(`document.activeElement.closest('a')?.textContent`)
    for (const name of ['a.jpg', 'b.mp4']) {
      await dialog(name).getByText('cannot be shown here').waitFor()
      // The focus comes a moment later, and the key goes where it is.
      await expect.poll(focused).toContain('Download')
      await page.keyboard.press('ArrowRight')
    }
    await expect.poll(() => dialog('c.png').getByText('This file is empty').isVisible()).toBe(true)
  })

  it('plays sound from any place, of which the browser reads ranges; the arrow keys seek in it', async () => {
    await open({ 'a.wav': silence(600), 'b.txt': 'x' }, 'a.wav')
    const state = () =>
      page.evaluate(`(({ duration, currentTime, seeking }) => ({
        seconds: Math.round(duration),
        at: Math.round(currentTime),
        isSeeking: seeking,
      }))(document.querySelector('audio'))`)
    await expect.poll(state).toEqual({ seconds: 600, at: 0, isSeeking: false })
    const ranged = page.waitForResponse(
      (response) =>
        response.status() === 206 && response.request().headers()['range'] !== 'bytes=0-',
    )
    await page.evaluate(`document.querySelector('audio').currentTime = 550`)
    await ranged
    await expect.poll(state).toEqual({ seconds: 600, at: 550, isSeeking: false })
    expect(await violationsIn(page)).toEqual([])
    await page.locator('audio').focus()
    await page.keyboard.press('ArrowRight')
    expect(await dialog('a.wav').count()).toBe(1)
    await page.getByRole('button', { name: 'Close' }).focus()
    await page.keyboard.press('ArrowRight')
    await dialog('b.txt').waitFor()
  })

  it('gets what the page has uploaded by its media type, large or small', async () => {
    await open({ 'a.txt': 'x' }, 'a.txt')
    await page.keyboard.press('Escape')
    const large = Buffer.concat([photo, Buffer.alloc(2 ** 24)])
    await page.locator('[data-picker=files]').setInputFiles([
      { name: 'small', mimeType: 'image/jpeg', buffer: photo },
      { name: 'large', mimeType: 'image/jpeg', buffer: large },
    ])
    await uploaded(page, 2)
    for (const name of ['small', 'large']) {
      const shown = page.waitForResponse(/inline=true/)
      await page.getByRole('button', { name, exact: true }).click()
      const headers = (await shown).headers()
      await dialog(name).waitFor()
      expect(headers['content-type']).toBe('image/jpeg')
      expect(headers['content-disposition']).toMatch(/^inline/)
      await page.keyboard.press('Escape')
    }
  })

  it('magnifies an image by wheel, keys and double clicks, and moves it then', async () => {
    await open({ 'a.jpg': photo, 'b.txt': 'x' }, 'a.jpg')
    const image = page.getByRole('img', { name: 'a.jpg' })
    await expect.poll(() => scaleOf(page)).toBe(1)
    await image.hover()
    await page.mouse.wheel(0, -100)
    await expect.poll(() => scaleOf(page)).toBeGreaterThan(1.2)
    await page.keyboard.press('0')
    await expect.poll(() => scaleOf(page)).toBe(1)
    await page.keyboard.press('+')
    await expect.poll(() => scaleOf(page)).toBe(1.4)
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => transformOf(page)).toBe('translate(-80px, 0px) scale(1.4)')
    await page.keyboard.press('0')
    await image.dblclick()
    await expect.poll(() => scaleOf(page)).toBe(2.5)
    await image.dblclick()
    await expect.poll(() => scaleOf(page)).toBe(1)
    await page.keyboard.press('ArrowRight')
    await dialog('b.txt').waitFor()
  })

  it('is swiped through by a finger, and magnified by two', async () => {
    await upload(service, { user, name: 'a.jpg', content: photo })
    await upload(service, { user, name: 'b.jpg', content: photo })
    const touch = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 780 } }
    page = await visitAs({ browser: browser(), service, user, ...touch })
    await page.getByText('a.jpg').tap()
    await dialog('a.jpg').waitFor()
    const fingers = await page.context().newCDPSession(page)
    const at = async (
      type: 'touchStart' | 'touchMove' | 'touchEnd',
      ...points: readonly (readonly [x: number, y: number])[]
    ) => {
      const touchPoints = points.map(([x, y], id) => ({ x, y, id }))
      await fingers.send('Input.dispatchTouchEvent', { type, touchPoints })
    }
    await at('touchStart', [150, 400], [250, 400])
    await at('touchMove', [100, 400], [300, 400])
    await at('touchEnd')
    await expect.poll(() => scaleOf(page)).toBeCloseTo(2, 1)
    await page.keyboard.press('0')
    await expect.poll(() => scaleOf(page)).toBe(1)
    await at('touchStart', [300, 400])
    await at('touchMove', [200, 400])
    await at('touchMove', [150, 400])
    await at('touchEnd')
    await dialog('b.jpg').waitFor()
    await at('touchStart', [150, 400])
    await at('touchMove', [300, 410])
    await at('touchEnd')
    await dialog('a.jpg').waitFor()
  })
})

async function scaleOf(page: Page): Promise<number> {
  return Number(/scale\((.*)\)/.exec(await transformOf(page))?.[1])
}

async function transformOf(page: Page): Promise<string> {
  return String(await page.evaluate(`document.querySelector('.viewer img').style.transform`))
}

/** A WAV file of so many seconds. */
function silence(seconds: number): Buffer {
  const rate = 8_000
  const wav = Buffer.alloc(44 + seconds * rate, 128)
  wav.write('RIFF')
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(rate, 24)
  wav.writeUInt32LE(rate, 28)
  wav.writeUInt16LE(1, 32)
  wav.writeUInt16LE(8, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(wav.length - 44, 40)
  return wav
}
