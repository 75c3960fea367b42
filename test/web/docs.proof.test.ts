import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { buildDocs } from '../support/http/page.ts'
import type { TestService } from '../support/service/test-service.ts'
import { describeInBrowser, visit, type VisitOptions } from './fixture.ts'
import { expectSound, TOUCH, violationsIn } from './looks.ts'

const BASE_PATH = '/api/v1'
const ADMIN_TOKEN = 'the-admin-token-of-the-pages'

describeInBrowser('the API reference', (browser) => {
  let service: TestService
  beforeAll(async () => {
    const docs = await buildDocs()
    service = await openEmbedded({ basePath: BASE_PATH, adminToken: ADMIN_TOKEN, ...docs })
  })
  afterAll(() => service?.stop())

  async function open(anchor = '', options: Partial<VisitOptions> = {}): Promise<Page> {
    const path = `${BASE_PATH}/docs${anchor}`
    const still = { reducedMotion: 'reduce' } as const
    return visit({ browser: browser(), service, path, ...still, ...options })
  }

  it('shows the section of its address, and no other', async () => {
    const page = await open('#uploadFile')
    await expect.poll(() => shownSections(page)).toEqual(['uploadFile'])
    expect(await page.title()).toBe('Upload a file as a form - Cloud Repository')
    const current = page.locator('#contents [aria-current]')
    expect(await current.textContent()).toContain('Upload a file as a form')
    await withoutHidden(page, () => expectSound(page))
    await page.locator('.pager-next').click()
    await page.getByRole('heading', { name: 'Upload a file as the request body' }).waitFor()
    await expect.poll(() => shownSections(page)).toEqual(['putFile'])
    await page.goBack()
    await expect.poll(() => shownSections(page)).toEqual(['uploadFile'])
    await page.getByRole('link', { name: 'capacity_exceeded' }).click()
    await expect.poll(() => shownSections(page)).toEqual(['problems'])
    await expect.poll(() => isInView(page, '#problem-capacity_exceeded')).toBe(true)
    await page.getByRole('link', { name: 'Skip to content' }).press('Enter')
    await expect.poll(() => shownSections(page)).toEqual(['problems'])
  })

  it('keeps the anchors of what has no section of its own', async () => {
    const page = await open()
    for (const [anchor, section] of [
      ['#schema-Problem', 'schema-Problem'],
      ['#tag-access-tokens', 'tag-access-tokens'],
      ['#credentials', 'introduction'],
      ['#header-ETag', 'headers'],
      ['#%', 'introduction'],
    ] as const) {
      await page.goto(`${service.url}${BASE_PATH}/docs${anchor}`)
      await expect.poll(() => shownSections(page)).toEqual([section])
    }
  })

  it('shows everything on one page where that is asked, and prints what is shown', async () => {
    const page = await open()
    await withoutHidden(page, () => expectSound(page))
    await page.getByRole('link', { name: 'Everything on one page' }).click()
    await expect.poll(async () => (await shownSections(page)).length).toBeGreaterThan(50)
    await page.goto(`${service.url}${BASE_PATH}/docs#putFile`)
    await expect.poll(() => shownSections(page)).toEqual(['putFile'])
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('navigation').count()).toBe(0)
    await expect.poll(() => shownSections(page)).toEqual(['putFile'])
  })

  it('finds operations by method, path, summary, parameter and code', async () => {
    const page = await open('#getCapacity')
    const found = page.locator('#contents .entry:visible')
    for (const [text, summary] of [
      ['PATCH offset', 'Append bytes to an upload'],
      ['/users/me/batch', 'Delete, rename, change and restore several'],
      ['form drop', 'Send a file by a drop link, as a form'],
      ['repr-digest visibility put', 'Upload a file as the request body'],
      ['link_password_invalid', 'Store the password of a link'],
    ] as const) {
      await page.getByRole('searchbox').fill(text)
      await found.filter({ hasText: summary }).first().waitFor()
      expect(await found.count()).toBeLessThan(10)
      await expect.poll(() => shownSections(page)).toEqual(['getCapacity'])
    }
    await page.getByRole('searchbox').fill('webp')
    await page.getByText('No operation found.').waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => shownSections(page)).toEqual(['getCapacity'])
  })

  it('is searched and read by keyboard', async () => {
    const page = await open()
    const all = await page.locator('#contents .entry:visible').count()
    await page.keyboard.press('/')
    await page.keyboard.type('capacity_exceeded')
    await page.locator('.reason', { hasText: 'capacity_exceeded' }).first().waitFor()
    const count = await page.locator('#contents .entry:visible').count()
    expect(await page.getByRole('status').first().textContent()).toBe(
      `${count} of ${all} operations`,
    )
    expect(await violationsIn(page)).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const second = await page.locator('#contents .entry:visible').nth(1).getAttribute('href')
    await page.keyboard.press('Enter')
    await expect.poll(() => shownSections(page)).toEqual([second?.slice(1)])
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H2')
    await page.keyboard.press('/')
    await page.keyboard.press('Enter')
    const first = await page.locator('#contents .entry:visible').first().getAttribute('href')
    await expect.poll(() => shownSections(page)).toEqual([first?.slice(1)])
    await page.getByRole('searchbox').press('Escape')
    expect(await page.locator('#contents .entry:visible').count()).toBe(all)
  })

  it('shows the contents or one operation on a phone, each with targets of 44 pixels', async () => {
    const page = await open('', TOUCH)
    await expect.poll(() => shownSections(page)).toEqual([])
    expect(await lowTargets(page)).toEqual([])
    await page.getByRole('link', { name: 'POST Create a resumable upload', exact: true }).tap()
    await expect.poll(() => shownSections(page)).toEqual(['createUpload'])
    expect(await page.locator('#contents').isVisible()).toBe(false)
    expect(await lowTargets(page)).toEqual([])
    await page.locator('.pager-next').tap()
    await expect.poll(() => shownSections(page)).toEqual(['listUploads'])
    await page.locator('.pager-previous').tap()
    await expect.poll(() => shownSections(page)).toEqual(['createUpload'])
    await page.locator('.pager-contents').tap()
    await page.locator('#contents').waitFor()
    await page.getByRole('searchbox').fill('webp nothing')
    await page.getByText('No operation found.').waitFor()
    for (const width of [320, 390, 640]) {
      await page.setViewportSize({ width, height: 740 })
      for (const anchor of ['', '#uploadFile', '#schemas', '#problems']) {
        await page.goto(`${service.url}${BASE_PATH}/docs${anchor}`)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      }
    }
  })

  it('has targets of 44 pixels on a phone on its side too, and room for the text on a low screen', async () => {
    const page = await open('#uploadFile', { ...TOUCH, viewport: { width: 844, height: 390 } })
    await page.locator('#contents').waitFor()
    expect(await lowTargets(page)).toEqual([])
    await page.setViewportSize({ width: 422, height: 195 })
    const room = await page.evaluate(`document.querySelector('.pager').getBoundingClientRect().top`)
    expect(room).toBeGreaterThan(195)
  })

  it('begins a section at its top on a phone', async () => {
    const page = await open('#uploadFile', TOUCH)
    await page.waitForLoadState()
    expect(await page.evaluate('scrollY')).toBe(0)
  })

  it('copies a command with the address of the service', async () => {
    const page = await open('#deleteFile')
    await page.getByRole('button', { name: 'Copy the command' }).click()
    await page.getByText('Copied', { exact: true }).first().waitFor()
    // The page itself has no field that keeps lines.
    const other = await page.context().newPage()
    await other.setContent('<textarea></textarea>')
    await other.locator('textarea').focus()
    await other.keyboard.press('Control+V')
    expect(await other.locator('textarea').inputValue()).toBe(
      `curl -i -X DELETE -H "Authorization: Bearer $TOKEN" \\\n  '${service.url}${BASE_PATH}/users/me/repo/README.md'`,
    )
  })

  it('is whole without its script', async () => {
    const page = await open('#putFile', { javaScriptEnabled: false })
    await expect.poll(async () => (await shownSections(page)).length).toBeGreaterThan(50)
    await expect.poll(() => isInView(page, '#putFile')).toBe(true)
    expect(await page.getByRole('button').count()).toBe(0)
    expect(await page.getByRole('searchbox').count()).toBe(0)
    await page.getByRole('navigation').getByRole('link', { name: 'Problems' }).click()
    await expect.poll(() => isInView(page, '#problems')).toBe(true)
    await page.getByRole('link', { name: 'openapi.json' }).click()
    expect(page.url()).toBe(`${service.url}${BASE_PATH}/openapi.json`)
  })

  it('is the same for the admin API, also in the dark', async () => {
    const page = await open('', {
      service: { url: `http://127.0.0.1:${service.adminPort}` },
      path: '/docs#putGrant',
      extraHTTPHeaders: { authorization: `Bearer ${ADMIN_TOKEN}` },
      colorScheme: 'dark',
    })
    await expect.poll(() => shownSections(page)).toEqual(['putGrant'])
    expect(await page.locator('.command:visible').textContent()).toContain(
      `'http://127.0.0.1:${service.adminPort}/admin/users/alice/grants/promotion/spring-2027'`,
    )
    expect(await violationsIn(page)).toEqual([])
  })
})

/** Takes the sections that cannot be seen out of the page while it is judged: axe goes through all 13,000 elements. */
async function withoutHidden(page: Page, judge: () => Promise<void>): Promise<void> {
  await page.evaluate(`globalThis.putBack = [...document.querySelectorAll('.view')]
    .filter((view) => !view.firstElementChild.checkVisibility())
    .map((view) => {
      const place = document.createComment('')
      view.replaceWith(place)
      return () => place.replaceWith(view)
    })`)
  await judge()
  await page.evaluate('putBack.forEach((restore) => restore())')
}

/** The ids of the sections that can be seen. */
async function shownSections(page: Page): Promise<readonly string[]> {
  const script = `[...document.querySelectorAll('.view')]
    .filter((view) => view.firstElementChild.checkVisibility())
    .map(({ id }) => id)`
  return page.evaluate<string[]>(script)
}

async function isInView(page: Page, selector: string): Promise<boolean> {
  const { y = -1 } = (await page.locator(selector).boundingBox()) ?? {}
  return y >= 0 && y < 800
}

/** What can be tapped alone, outside of sentences, but is less high than a fingertip. */
async function lowTargets(page: Page): Promise<unknown> {
  return page.evaluate(`[...document.querySelectorAll('#contents a, .pager a, button, input, summary')]
    .map((element) => [element.outerHTML, element.getBoundingClientRect().height])
    .filter(([, height]) => height > 0 && height < 44)`)
}
