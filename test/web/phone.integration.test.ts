import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { upload } from '../http/fixture.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, openWithPage, visit } from './fixture.ts'
import { smallTargets, TOUCH, violationsIn } from './looks.ts'

const PHONE = { ...TOUCH, viewport: { width: 390, height: 844 } }

describeInBrowser('a phone', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(2 ** 20)
    for (const name of ['a.txt', 'b.txt', 'trip/a.txt'])
      await upload(service, { user, name, content: 'x' })
  })

  async function open(locale = 'en-US'): Promise<Page> {
    const page = await visit({ browser: browser(), service, user, locale, ...PHONE })
    await page.locator('.row .name').first().waitFor()
    return page
  }

  const first = (page: Page) => page.locator('.row:not(.row-head), .tile').first()

  const topOf = async (page: Page) => (await first(page).boundingBox())?.y ?? Infinity

  it.each(['en-US', 'de-DE'])('shows the first file within 200 pixels, in %s', async (locale) => {
    const page = await open(locale)
    const expectCompact = async (where: string): Promise<void> => {
      const top = await topOf(page)
      expect([where, top < 200, top]).toEqual([where, true, top])
      expect([where, await smallTargets(page)]).toEqual([where, []])
      expect([where, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
        where,
        390,
      ])
      expect([where, await violationsIn(page)]).toEqual([where, []])
    }
    await expectCompact('list')
    await page.locator('.row .name', { hasText: 'trip' }).tap()
    await page.locator('.crumb', { hasText: 'trip' }).waitFor()
    await expectCompact('folder')
    await page.locator('.layout-button').tap()
    await page.locator('.tile').waitFor()
    await expectCompact('grid')
  })

  it('gives the search the whole line while it is used', async () => {
    const page = await open()
    const search = page.getByRole('searchbox')
    const widthOf = async () => (await search.boundingBox())?.width ?? 0
    const before = await widthOf()
    await search.tap()
    expect(await widthOf()).toBeGreaterThan(300)
    await search.fill('b.')
    await expect.poll(() => page.locator('.row .name').allTextContents()).toEqual(['b.txt'])
    await search.blur()
    expect(await widthOf()).toBe(before)
  })

  it('leaves the files where they are when one is selected', async () => {
    const page = await open()
    const before = await topOf(page)
    await page.getByRole('button', { name: 'Actions for a.txt' }).tap()
    await page.getByRole('dialog').getByRole('button', { name: 'Select' }).tap()
    const bar = page.getByRole('group', { name: 'Selected files' })
    await bar.waitFor()
    expect(await topOf(page)).toBe(before)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await smallTargets(page)).toEqual([])
    expect(await violationsIn(page)).toEqual([])
  })

  it('opens where the capacity comes from below its line', async () => {
    const page = await open()
    const parts = page.getByText('Where it comes from')
    await parts.tap()
    await page.locator('.grants > li').first().waitFor()
    expect(await page.locator('.capacity-line').isVisible()).toBe(true)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })
})
