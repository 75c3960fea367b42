import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { upload } from '../http/fixture.ts'
import { issue } from '../http/scopes/scoped-requests.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, effectsRun, names, openWithPage, visitAs } from './fixture.ts'
import { expectSound, smallTargets, TOUCH } from './looks.ts'

const FILE_ACTIONS = [
  'Select',
  'Download',
  'Share',
  'Rename',
  'Move',
  'Automatic deletion',
  'Earlier versions',
  'Delete',
]

const FOLDER_ACTIONS = ['Select', 'Download', 'Share', 'Rename', 'Move', 'Delete']

describeInBrowser('the actions on a file', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(10_000)
    for (const name of ['Trip/a.jpg', 'a.txt', 'b.txt', 'c.txt']) {
      await upload(service, { user, name, content: 'x' })
    }
  })

  async function open(options = {}): Promise<Page> {
    const page = await visitAs({ browser: browser(), service, user, ...options })
    await page.locator('[data-index="3"]').waitFor()
    return page
  }

  it.each(['list', 'grid'])(
    'are shown in the %s by the right button, where it was pressed',
    async (look) => {
      const page = await open()
      if (look === 'grid') await page.getByRole('button', { name: 'Show as a grid' }).click()
      await page.locator('[data-index="1"]').click({ button: 'right', position: { x: 60, y: 30 } })
      const menu = page.getByRole('dialog', { name: 'Actions for a.txt' })
      await menu.waitFor()
      expect(await actionsOf(page)).toEqual(FILE_ACTIONS)
      const row = await page.locator('[data-index="1"]').boundingBox()
      const box = await menu.boundingBox()
      expect(Math.abs((box?.x ?? 0) - (row?.x ?? 0) - 60)).toBeLessThan(1)
      expect(Math.abs((box?.y ?? 0) - (row?.y ?? 0) - 30)).toBeLessThan(1)
      await expectSound(page)
      await page.keyboard.press('Escape')
      await menu.waitFor({ state: 'detached' })
      await page.locator('[data-index="0"]').click({ button: 'right', position: { x: 60, y: 30 } })
      await page.getByRole('dialog', { name: 'Actions for Trip' }).waitFor()
      expect(await actionsOf(page)).toEqual(FOLDER_ACTIONS)
      await menuAction(page, 'Rename').click()
      await page.getByLabel('New name').waitFor()
    },
  )

  it('are all in view at the edge, and go by a press beside them', async () => {
    const page = await open({ viewport: { width: 700, height: 420 } })
    const last = page.locator('[data-index="3"]')
    await last.scrollIntoViewIfNeeded()
    const { width = 0 } = (await last.boundingBox()) ?? {}
    await last.click({ button: 'right', position: { x: width - 60, y: 40 } })
    const box = await page.getByRole('dialog').boundingBox()
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(700)
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(420)
    await page.mouse.click(5, 5, { button: 'right' })
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it.each(['ContextMenu', 'Shift+F10'])('are shown and chosen by keys, with %s', async (key) => {
    const page = await open()
    await page.locator('[data-index="1"]').press(key)
    await page.getByRole('dialog', { name: 'Actions for a.txt' }).waitFor()
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toBe('Select')
    await page.keyboard.press('ArrowUp')
    await expect.poll(focused).toBe('Delete')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await expect.poll(focused).toBe('Download')
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await page.getByText('“a.txt” was deleted.').waitFor()
    await expect.poll(() => names(page)).toEqual(['Trip', 'b.txt', 'c.txt'])
  })

  it('are those on all selected files for one of them, and only on itself for another', async () => {
    const page = await open()
    await page.locator('[data-index="1"]').press('Space')
    await page.keyboard.press('Shift+ArrowDown')
    await says(page, '2 selected')
    await page.locator('[data-index="2"]').click({ button: 'right' })
    await page.getByRole('dialog', { name: '2 selected' }).waitFor()
    expect(await actionsOf(page)).toEqual(['Download', 'Share', 'Move', 'Keep', 'Delete'])
    await expectSound(page)
    await page.keyboard.press('Escape')
    await page.locator('[data-index="3"]').click({ button: 'right' })
    await page.getByRole('dialog', { name: 'Actions for c.txt' }).waitFor()
    await menuAction(page, 'Select').click()
    await says(page, '3 selected')
    await page.locator('[data-index="3"]').press('Shift+F10')
    await menuAction(page, 'Delete').click()
    await page.getByText('3 files were deleted.').waitFor()
    await expect.poll(() => names(page)).toEqual(['Trip'])
  })

  it('are left to the browser for links and for selected text', async () => {
    // What can be dragged has no text to select.
    const reader = await issue(service, user, { actions: ['read'], prefix: '' })
    user = { ...user, cookie: `access_token=${reader}` }
    const page = await open()
    await page.evaluate(
      `addEventListener('contextmenu', (event) => { window.isOurs = event.defaultPrevented })`,
    )
    const isOurs = () => page.evaluate('window.isOurs')
    const row = page.locator('[data-index="1"]')
    await row.getByRole('link', { name: 'Download a.txt' }).click({ button: 'right', force: true })
    expect(await isOurs()).toBe(false)
    await page.evaluate(
      `getSelection().selectAllChildren(document.querySelector('[data-index="1"] time'))`,
    )
    await row.locator('time').click({ button: 'right' })
    expect(await isOurs()).toBe(false)
    await row.locator('.cell-size').click({ button: 'right' })
    expect(await isOurs()).toBe(true)
  })

  it('are shown by a long press, which neither opens the file nor stops the finger from scrolling', async () => {
    const page = await open({ ...TOUCH, hasTestClock: true })
    const touch = await touchOf(page)
    await touch('touchStart')
    await page.getByRole('dialog', { name: 'Actions for a.txt' }).waitFor()
    await touch('touchEnd')
    expect(await smallTargets(page)).toEqual([])
    await expectSound(page)
    expect(await page.locator('.viewer').count()).toBe(0)
    await menuAction(page, 'Select').tap()
    await says(page, '1 selected')
    await page.locator('[data-index="2"]').tap()
    await says(page, '2 selected')
    await touch('touchStart')
    await page.getByRole('dialog', { name: '2 selected' }).waitFor()
    await touch('touchEnd')
    await page.getByRole('button', { name: 'Close' }).tap()
    await touch('touchStart')
    await touch('touchMove', 40)
    await page.context().clock.runFor(600)
    await touch('touchEnd')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await says(page, '2 selected')
  })

  it('come after a long press of a slow network too, and the file is not opened', async () => {
    const page = await open(TOUCH)
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    await page.route('**/assets/file-action-dialog-*.js', async (route) => {
      asked.resolve()
      await answer.promise
      await route.continue()
    })
    const touch = await touchOf(page)
    await touch('touchStart')
    await asked.promise
    await touch('touchEnd')
    await effectsRun(page)
    answer.resolve()
    await page.getByRole('dialog', { name: 'Actions for a.txt' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(1)
  })

  it('are shown by a pen that rests, but not by one that moves', async () => {
    const page = await open({ ...TOUCH, hasTestClock: true })
    const session = await page.context().newCDPSession(page)
    const { x = 0, y = 0 } = (await page.locator('[data-index="1"] .cell-size').boundingBox()) ?? {}
    const pen = (type: 'mousePressed' | 'mouseMoved' | 'mouseReleased', right: number) =>
      session.send('Input.dispatchMouseEvent', {
        type,
        x: x + 5 + right,
        y: y + 5,
        button: 'left',
        buttons: 1,
        clickCount: 1,
        pointerType: 'pen',
      })
    await pen('mousePressed', 0)
    await pen('mouseMoved', 2)
    await page.context().clock.runFor(600)
    await page.getByRole('dialog', { name: 'Actions for a.txt' }).waitFor()
    await pen('mouseReleased', 2)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await pen('mousePressed', 0)
    await pen('mouseMoved', 14)
    await page.context().clock.runFor(600)
    await effectsRun(page)
    expect(await page.getByRole('dialog').count()).toBe(0)
  })
})

function menuAction(page: Page, name: string) {
  return page.getByRole('dialog').getByRole('button', { name, exact: true })
}

async function says(page: Page, text: string): Promise<void> {
  await page.getByRole('group', { name: 'Selected files' }).getByText(text).waitFor()
}

async function actionsOf(page: Page): Promise<readonly string[]> {
  return page.locator('dialog .choices .button').allTextContents()
}

/** A finger on the first file. */
async function touchOf(page: Page) {
  const session = await page.context().newCDPSession(page)
  const { x = 0, y = 0 } = (await page.locator('[data-index="1"]').boundingBox()) ?? {}
  return (type: 'touchStart' | 'touchMove' | 'touchEnd', down = 0) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: type === 'touchEnd' ? [] : [{ x: x + 100, y: y + 20 + down }],
    })
}
