import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { upload } from '../http/fixture.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, names, openWithPage, visitAs } from './fixture.ts'

const NAMES = ['a.txt', 'b.txt', 'c.txt']

describeInBrowser('a deletion by keyboard', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(1000)
    for (const name of NAMES) await upload(service, { user, name, content: 'x' })
  })

  /** Opens the page, and deletes the first file. */
  async function openAndDelete(): Promise<Page> {
    const page = await visitAs({ browser: browser(), service, user, hasTestClock: true })
    await page.locator('[data-index="0"]').focus()
    await page.keyboard.press('Delete')
    await page.getByText('“a.txt” was deleted.').waitFor()
    await expect.poll(() => focused(page)).toContain('b.txt')
    return page
  }

  it('is undone with Ctrl+Z, but not from a field', async () => {
    const page = await openAndDelete()
    await page.getByRole('searchbox').press('Control+z')
    expect(await names(page)).toEqual(['b.txt', 'c.txt'])
    await page.locator('[data-index="1"]').press('Control+z')
    await expect.poll(() => names(page)).toEqual(NAMES)
    await expect.poll(() => focused(page)).toContain('c.txt')
  })

  it('a deletion of several files leaves the focus on a file', async () => {
    const page = await visitAs({ browser: browser(), service, user })
    await page.locator('[data-index="1"]').press('Space')
    await page.keyboard.press('Shift+ArrowDown')
    await page.getByRole('group', { name: 'Selected files' }).getByText('2 selected').waitFor()
    await page.keyboard.press('Delete')
    await page.getByText('2 files were deleted.').waitFor()
    await expect.poll(() => focused(page)).toContain('a.txt')
  })

  it('can be undone while the focus is on its message, and the focus then goes back to the list', async () => {
    const page = await openAndDelete()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.focus()
    await page.clock.fastForward(20_000)
    await undo.press('Enter')
    await expect.poll(() => names(page)).toEqual(NAMES)
    await expect.poll(() => focused(page)).toContain('b.txt')
  })

  it('is told no longer than it takes to read that, once the focus has left the message', async () => {
    const page = await openAndDelete()
    const close = page.locator('.toast').getByRole('button', { name: 'Close' })
    await close.focus()
    await page.clock.fastForward(20_000)
    await page.getByRole('searchbox').focus()
    await page.clock.fastForward(6_000)
    await expect.poll(() => close.count()).toBe(0)
  })
})

/** The row that has the focus. */
async function focused(page: Page): Promise<unknown> {
  return page.evaluate(`document.activeElement.closest('[data-index]')?.textContent`)
}
