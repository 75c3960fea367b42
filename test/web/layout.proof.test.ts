import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { upload } from '../http/fixture.ts'
import { issue } from '../http/scopes/scoped-requests.ts'
import { startHttpProxy } from '../support/faults/http-proxy.ts'
import { beginUpload } from '../support/http/tus-client.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import {
  describeInBrowser,
  openWithPage,
  pick,
  slowDown,
  uploaded,
  visit,
  visitAs,
} from './fixture.ts'
import { NARROW, smallTargets, TOUCH, violationsIn } from './looks.ts'

const NAME = 'A photo with a name of some length.jpg'

describeInBrowser('the page', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(2 ** 25)
  })

  const open = (options: Partial<Parameters<typeof visitAs>[0]> = {}) =>
    visitAs({ browser: browser(), service, user, ...options })

  it('leaves the names room at every width, and all that can be done with a file within reach', async () => {
    await upload(service, { user, name: NAME, content: 'x' })
    const page = await open()
    await page.getByText(NAME).waitFor()
    for (const width of [1280, 1100, 1000, 900, 740, 640, 390, 320]) {
      await page.setViewportSize({ width, height: 700 })
      const { x, width: shown } = await box(page, '.row .cell-name')
      expect({ width, isWide: shown >= Math.min(240, width / 2) }).toEqual({ width, isWide: true })
      const last = await box(page, '.row:not(.row-head) .cell-actions')
      expect(last.x).toBeGreaterThanOrEqual(x + shown)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }
    expect(await page.getByRole('button', { name: `Actions for ${NAME}` }).isVisible()).toBe(true)
  })

  it('shows the list on a low screen too, below an interrupted upload', async () => {
    await upload(service, { user, name: NAME, content: 'x' })
    const interrupted = { name: 'concert.mov', length: 1000, content: 'x'.repeat(600) }
    await beginUpload(service, { cookie: user.cookie, ...interrupted })
    const page = await open({ viewport: { width: 844, height: 390 } })
    await page.getByText('1 upload was interrupted.').waitFor()
    const { height } = await box(page, '.rows')
    expect(height).toBeGreaterThan(200)
    await page.mouse.wheel(0, 2_000)
    await expect.poll(async () => (await box(page, '.row:not(.row-head)')).y).toBeLessThan(330)
    expect(await violationsIn(page)).toEqual([])
    // As a page of twice the width at 200 %.
    await page.setViewportSize({ width: 640, height: 400 })
    expect((await box(page, '.rows')).height).toBeGreaterThan(200)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(640)
  })

  it('has targets of 44 pixels for fingers, in the list, the grid, the viewer and dialogs', async () => {
    await upload(service, { user, name: NAME, content: 'x' })
    const page = await open(TOUCH)
    await page.getByText(NAME).waitFor()
    expect(await smallTargets(page)).toEqual([])
    await page.getByRole('button', { name: `Actions for ${NAME}` }).tap()
    await page.getByRole('dialog').waitFor()
    expect(await smallTargets(page)).toEqual([])
    await page.getByRole('button', { name: 'Share' }).tap()
    const beyond = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.dialog'))`
    await page.getByRole('button', { name: 'Create link' }).waitFor()
    for (const more of ['Password and more', 'Advanced']) await page.getByText(more).tap()
    expect(await page.evaluate(beyond)).toBe(0)
    expect(await smallTargets(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Show as a grid' }).tap()
    await page.locator('.tile').waitFor()
    expect(await smallTargets(page)).toEqual([])
    await page.locator('.tile').tap()
    await page.getByRole('dialog').waitFor()
    expect(await smallTargets(page)).toEqual([])
  })

  it('has the name of the product on one line, or leaves its room to what the token permits', async () => {
    const cookie = `access_token=${await issue(service, user, { actions: ['read', 'share'] })}`
    for (const locale of ['en-US', 'de-DE']) {
      const limited = { ...user, cookie }
      const page = await visit({ browser: browser(), service, user: limited, locale })
      await page.locator('.limits').waitFor()
      for (const width of [1280, 640, 390, 320]) {
        await page.setViewportSize({ width, height: 700 })
        const lines = await page.evaluate(LINES_OF_PRODUCT)
        expect({ locale, width, lines }).toEqual({ locale, width, lines: width < 700 ? 0 : 1 })
        const { x, width: shown } = await box(page, '.top .button')
        expect(x + shown).toBeLessThanOrEqual(width)
        expect((await box(page, '.limits')).height).toBeLessThan(50)
      }
    }
  })

  it('says above the header on a phone that a proxy cannot reach the service', async () => {
    const front = await startHttpProxy(service)
    onTestFinished(() => front.stop())
    const page = await open({ service: front, ...TOUCH })
    front.refusals.set('GET', {})
    await page.getByRole('button', { name: 'Show as a grid' }).waitFor()
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor()
    const { y, height } = await box(page, '.banner')
    expect((await box(page, '.top')).y).toBeGreaterThanOrEqual(y + height)
    expect((await box(page, '.shell')).y + (await box(page, '.shell')).height).toBe(NARROW.height)
    expect(await violationsIn(page)).toEqual([])
  })

  it('folds where the capacity comes from when the window becomes narrow, or is magnified', async () => {
    await upload(service, { user, name: NAME, content: 'x' })
    const page = await open()
    const parts = page.getByText('Included with your account')
    await parts.waitFor()
    await page.setViewportSize({ width: 640, height: 400 })
    await parts.waitFor({ state: 'hidden' })
    await page.getByText('Where it comes from').click()
    await parts.waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
    expect(await parts.isVisible()).toBe(true)
  })

  it('shows what a dialog does, without scrolling, and a button beside its address on one line', async () => {
    await upload(service, { user, name: NAME, content: 'x' })
    const page = await open()
    await page.getByRole('button', { name: `Share ${NAME}` }).click({ force: true })
    await page.getByRole('button', { name: 'Create link' }).click()
    await page.getByRole('button', { name: 'Copy link' }).waitFor()
    expect((await box(page, '.link .button')).height).toBeLessThan(45)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Links and devices' }).click()
    await page.getByRole('button', { name: 'Create a link' }).click()
    await page.getByRole('dialog', { name: 'Create a link' }).waitFor()
    for (const [width, height] of [
      [1280, 800],
      [390, 780],
    ] as const) {
      await page.setViewportSize({ width, height })
      const { y, height: tall } = await box(page, '.dialog-actions .button-main')
      expect({ width, isSeen: y + tall < height }).toEqual({ width, isSeen: true })
    }
  })

  it('keeps uploads small on a low screen, where their list would cover the page', async () => {
    const page = await open({ viewport: { width: 844, height: 390 } })
    await slowDown(page, 100_000)
    await pick(page, [{ path: 'a.bin', content: Buffer.alloc(2_000_000) }])
    await page.getByRole('heading', { name: 'Uploading 1 of 1' }).waitFor()
    expect((await box(page, '.uploads')).height).toBeLessThan(90)
    await page.getByRole('button', { name: 'Show all uploads' }).click()
    await page.locator('.upload', { hasText: 'a.bin' }).waitFor()
  })

  it('cuts a name at its end, also from right to left', async () => {
    const names = ['x'.repeat(200), 'א'.repeat(100)]
    for (const name of names) await upload(service, { user, name, content: 'x' })
    const page = await open()
    for (const layout of ['list', 'grid']) {
      if (layout === 'grid') await page.getByRole('button', { name: 'Show as a grid' }).click()
      await page
        .locator(layout === 'grid' ? '.tile' : '.row .name')
        .first()
        .waitFor()
      for (const dir of ['ltr', 'rtl']) {
        await page.evaluate(`document.documentElement.dir = '${dir}'`)
        expect({ layout, dir, cut: await beginsCut(page) }).toEqual({ layout, dir, cut: [] })
      }
    }
  })

  it('covers nothing of a text with the buttons to the other files', async () => {
    for (const name of ['a.txt', 'b.txt', 'c.txt'])
      await upload(service, { user, name, content: 'word '.repeat(2_000) })
    const page = await open()
    await page.getByRole('button', { name: 'b.txt', exact: true }).click()
    await page.locator('.viewer-text').waitFor()
    for (const [width, height] of [
      [1280, 800],
      [1000, 700],
      [390, 780],
      [844, 390],
      [422, 195],
    ] as const) {
      await page.setViewportSize({ width, height })
      expect({ width, covered: await page.evaluate(COVERED_TEXT) }).toEqual({ width, covered: [] })
    }
  })

  it('has a button for the first files where there are none', async () => {
    const page = await open()
    const chosen = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose files' }).press('Enter')
    await (await chosen).setFiles([{ name: 'a.txt', mimeType: '', buffer: Buffer.from('x') }])
    await page.getByRole('button', { name: 'a.txt', exact: true }).waitFor()
    // The button that had the focus is gone.
    const row = () => page.evaluate(`document.activeElement.closest('[data-index]')?.textContent`)
    await expect.poll(row).toContain('a.txt')
    expect(await violationsIn(page)).toEqual([])
  })

  it('makes finished uploads small, and shows them again when that is asked', async () => {
    const page = await open()
    await pick(page, [{ path: 'a.txt', content: 'x' }])
    await uploaded(page, 1)
    await page.locator('.upload').waitFor({ state: 'detached' })
    for (const [width, height] of [
      [1280, 800],
      [390, 780],
    ] as const) {
      await page.setViewportSize({ width, height })
      const { y: top } = await box(page, '.uploads')
      for (const covered of ['.files', '.capacity']) {
        const { y, height } = await box(page, covered)
        expect({ width, covered, isCovered: y + height > top }).toEqual({
          width,
          covered,
          isCovered: false,
        })
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Show all uploads' }).click()
    await page.locator('.upload', { hasText: 'a.txt' }).waitFor()
    await pick(page, [{ path: 'a.txt', content: 'other' }])
    await page.getByText('already exists').waitFor()
    expect(await page.locator('.upload').count()).toBe(1)
  })

  it('says of a lost connection in the row of an upload what it says above the rows', async () => {
    const page = await open()
    await slowDown(page, 400_000)
    await pick(page, [{ path: 'a.bin', content: Buffer.alloc(8_000_000) }])
    const state = page.locator('.upload-state')
    await state.getByText(/ of /).waitFor()
    await page.route(/contains=|prefix=/, (route) => route.abort())
    await page.getByRole('searchbox').fill('z')
    await page.locator('.uploads-head').getByText('Connection lost').waitFor()
    expect(await state.textContent()).toContain('Connection lost')
  })

  it('states no rate and no time left once the connection is lost', async () => {
    const front = await startHttpProxy(service)
    const page = await open({ service: front })
    await slowDown(page, 400_000)
    await pick(page, [
      { path: 'a.bin', content: Buffer.alloc(4_000_000) },
      { path: 'b.bin', content: Buffer.alloc(4_000_000) },
    ])
    const panel = page.getByRole('region', { name: 'Uploads' })
    await panel.getByText(/s left/).waitFor()
    await front.stop()
    await panel.getByText(/s left/).waitFor({ state: 'detached' })
    await panel.locator('.uploads-head').getByText('Connection lost').waitFor()
    const lost = panel.locator('.upload-state', { hasText: 'Connection lost' })
    await expect.poll(() => lost.count()).toBe(2)
    // Also while an upload that tries again asks for what is there.
    await page.waitForEvent('requestfailed', (request) => request.url().includes('prefix=a.bin'))
    expect(await panel.getByText('Waiting').count()).toBe(0)
  })
})

/** How many lines the name has that can be seen. */
const LINES_OF_PRODUCT = `(() => {
  const range = document.createRange()
  range.selectNodeContents(document.querySelector('.product'))
  return [...range.getClientRects()].filter(({ width }) => width > 0).length
})()`

/** The names whose first character is not within their button. */
function beginsCut(page: Page): Promise<unknown> {
  return page.evaluate(`[...document.querySelectorAll('.rows .name bdi')].flatMap((bdi) => {
    const first = document.createRange()
    first.setStart(bdi.firstChild, 0)
    first.setEnd(bdi.firstChild, 1)
    const [shown, whole] = [first, bdi.closest('.name')].map((each) => each.getBoundingClientRect())
    return shown.left >= whole.left - 1 && shown.right <= whole.right + 1 ? [] : [bdi.textContent]
  })`)
}

/** The buttons under which the text of the viewer is. */
const COVERED_TEXT = `[...document.querySelectorAll('.viewer-step')].flatMap((button) => {
  const text = document.querySelector('.viewer-text')
  const { paddingLeft, paddingRight } = getComputedStyle(text)
  const [inner, step] = [text, button].map((each) => each.getBoundingClientRect())
  const isBeside =
    step.right <= inner.left + parseFloat(paddingLeft) ||
    step.left >= inner.right - parseFloat(paddingRight)
  return isBeside || step.top >= inner.bottom ? [] : [button.title]
})`

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

async function box(page: Page, selector: string): Promise<Box> {
  const found = await page.locator(selector).last().boundingBox()
  if (found === null) throw new Error(`Nothing of ${selector} is shown.`)
  return found
}
