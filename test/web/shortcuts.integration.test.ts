import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { upload } from '../http/fixture.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, names, openWithPage, visitAs } from './fixture.ts'
import { expectSound } from './looks.ts'

describeInBrowser('the keys of the page', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(1000)
    for (const name of ['Trip/Day 1/a.jpg', 'Trip/plan.txt', 'notes.md']) {
      await upload(service, { user, name, content: 'x' })
    }
  })

  async function open(path = '/'): Promise<Page> {
    const page = await visitAs({ browser: browser(), service, user, path })
    await page.locator('.rows .name').first().waitFor()
    return page
  }

  it('go to the search, where they are text', async () => {
    const page = await open()
    await page.locator('[data-index="0"]').press('/')
    const search = page.getByRole('searchbox')
    await expect.poll(() => search.evaluate('document.activeElement.type')).toBe('search')
    expect(await search.inputValue()).toBe('')
    await page.keyboard.type('a/?')
    expect(await search.inputValue()).toBe('a/?')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await search.fill('')
    // The bar of a selection hides the search.
    await page.locator('[data-index="1"]').press('Space')
    await search.waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await expect.poll(() => search.evaluate('document.activeElement.type')).toBe('search')
  })

  it('are shown by one of them, and by a button', async () => {
    const page = await open()
    await page.locator('[data-index="0"]').press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.getByText('Go to the folder above').waitFor()
    await expectSound(page)
    await page.keyboard.press('/')
    expect(await help.isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await help.waitFor()
  })

  it('lead to the folder above, at the one that was open', async () => {
    const page = await open('/#folder=Trip%2FDay+1%2F')
    expect(await names(page)).toEqual(['a.jpg'])
    await page.locator('[data-index="0"]').press('Backspace')
    await expect.poll(() => names(page)).toEqual(['Day 1', 'plan.txt'])
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toContain('Day 1')
    await page.getByRole('searchbox').press('Backspace')
    expect(await names(page)).toEqual(['Day 1', 'plan.txt'])
    await page.locator('[data-index="0"]').press('Backspace')
    await expect.poll(() => names(page)).toEqual(['Trip', 'notes.md'])
    await page.locator('[data-index="0"]').press('Backspace')
    expect(await names(page)).toEqual(['Trip', 'notes.md'])
    await page.goBack()
    await expect.poll(() => names(page)).toEqual(['Day 1', 'plan.txt'])
  })

  it('leave the folder where it is while another view is open', async () => {
    const page = await open('/#folder=Trip%2F')
    await page.getByRole('button', { name: 'Deleted and earlier versions' }).click()
    await page.getByText('Nothing to restore').waitFor()
    await page.keyboard.press('Backspace')
    expect(new URL(page.url()).hash).toBe('#folder=Trip%2F')
  })
})
