import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser, whyNoBrowser } from '../support/http/browser.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService } from '../support/service/test-service.ts'
import { buildDocs } from '../support/http/page.ts'
import { isSkipped } from '../support/servers/needs.ts'

const skipped = isSkipped(await whyNoBrowser())

describe.skipIf(skipped).each(['', '/api'])('in a browser, the docs under "%s"', (basePath) => {
  let browser: Browser
  let service: TestService
  let page: Page
  /** What the page asked for, and what its browser complained of. */
  const asked: string[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    browser = await startBrowser()
    service = await openEmbedded({ basePath, ...(await buildDocs()) })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })
  afterEach(() => page.close())

  async function open(options: Parameters<Browser['newPage']>[0]): Promise<void> {
    page = await browser.newPage(options)
    asked.length = 0
    complaints.length = 0
    page.on('request', (request) => asked.push(request.url()))
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`${service.url}${basePath}/docs`)
  }

  it.each(['light', 'dark'] as const)(
    'are styled in %s, with nothing refused or fetched',
    async (colorScheme) => {
      await open({ colorScheme })
      const colours = await page.evaluate<string[]>(
        '[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]',
      )
      const [text = 0, back = 0] = colours.map(brightnessOf)
      expect(colorScheme === 'light' ? back - text : text - back).toBeGreaterThan(150)
      expect(asked).toEqual([`${service.url}${basePath}/docs`])
      expect(complaints).toEqual([])
    },
  )

  it('show every operation and every code, and lead to them', async () => {
    await open({})
    for (const heading of [
      'POST /users/me/repo/{file_name}',
      'GET /users/{user_id}/repo/{file_name}',
    ]) {
      expect(await page.getByRole('heading', { name: heading, exact: true }).isVisible()).toBe(true)
    }
    expect(await page.locator('#problem-capacity_exceeded').isVisible()).toBe(true)
    for (const link of ['Upload a file as a form', 'problems']) {
      await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click()
      expect(await page.locator(':target').isVisible()).toBe(true)
    }
    const [document] = await Promise.all([
      page.waitForResponse(`${service.url}${basePath}/openapi.json`),
      page.getByRole('link', { name: 'openapi.json' }).click(),
    ])
    expect(document.status()).toBe(200)
  })

  it('fit a narrow screen', async () => {
    await open({ viewport: { width: 360, height: 740 } })
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360)
  })

  it('have one main heading, one main part, a language, and no level of headings left out', async () => {
    await open({})
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    expect(await page.getByRole('main').count()).toBe(1)
    const levels = await page.evaluate<number[]>(
      "[...document.querySelectorAll('h1, h2, h3, h4, h5')].map((heading) => Number(heading.tagName[1]))",
    )
    expect(levels.filter((level) => level === 1)).toHaveLength(1)
    expect(levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1)).toEqual([])
  })
})

/** From 0 to 255, of `rgb(r, g, b)`. */
function brightnessOf(colour: string): number {
  const parts = [...colour.matchAll(/\d+/g)].slice(0, 3).map(Number)
  return parts.reduce((sum, part) => sum + part, 0) / 3
}
