import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import type { Locator, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { namesOf } from '../http/file-requests.ts'
import { upload } from '../http/fixture.ts'
import { issue } from '../http/scopes/scoped-requests.ts'
import { createFolder } from '../support/servers/local-server.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, names, openWithPage, visitAs } from './fixture.ts'
import { actOn, expectSound, smallTargets, TOUCH, violationsIn } from './looks.ts'

const FILES = ['Garden/plan.pdf', 'Photos/2025/beach.jpg', 'Photos/2026/a.jpg', 'b.jpg', 'c.jpg']

describeInBrowser('moves between folders', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000, maxFiles: 2_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(2 ** 20)
    for (const name of FILES) await upload(service, { user, name, content: 'x' })
  })

  const stored = () => namesOf(service, { user, query: { limit: 1_000 } })

  async function open(options: Partial<Parameters<typeof visitAs>[0]> = {}): Promise<Page> {
    const page = await visitAs({ browser: browser(), service, user, ...options })
    await page.locator('[data-index]').last().waitFor()
    return page
  }

  const item = (page: Page, name: string) => page.locator('[data-index]', { hasText: name })
  const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Move' })
  const crumb = (page: Page, name: string) =>
    page.locator('.folder-bar').getByRole('button', { name, exact: true })

  async function undo(page: Page, text: string): Promise<void> {
    const toast = page.locator('.toast', { hasText: text })
    await toast.getByRole('button', { name: 'Undo' }).click()
  }

  it('go by keyboard to a folder in a folder, and back', async () => {
    const page = await open()
    await item(page, 'b.jpg').focus()
    await page.getByRole('button', { name: 'Move b.jpg' }).focus()
    await page.keyboard.press('Enter')
    await dialogOf(page).getByRole('button', { name: 'Photos' }).waitFor()
    expect(await dialogOf(page).getByRole('button', { name: 'Move here' }).isDisabled()).toBe(true)
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe('Garden')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    // The button of the folder is gone, and the list of those in it has the focus.
    await dialogOf(page).getByRole('button', { name: '2026' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe('2026')
    await page.keyboard.press('Enter')
    await dialogOf(page).getByText('There are no folders in here.').waitFor()
    await expectSound(page)
    await dialogOf(page).getByRole('button', { name: 'Move here' }).press('Enter')
    await page.getByText('1 file was moved.').waitFor()
    expect(await stored()).toContain('Photos/2026/b.jpg')
    await expect.poll(() => names(page)).toEqual(['Garden', 'Photos', 'c.jpg'])
    await undo(page, '1 file was moved.')
    await expect.poll(stored).toEqual(FILES)
  })

  it('take folders with all that is in them, but not into themselves', async () => {
    const page = await open()
    await actOn(page, { action: 'Move', name: 'Photos' })
    await dialogOf(page).getByRole('button', { name: 'Garden' }).waitFor()
    expect(await dialogOf(page).getByRole('button', { name: 'Photos' }).count()).toBe(0)
    await dialogOf(page).getByRole('button', { name: 'New folder' }).click()
    await dialogOf(page).getByLabel('Name of the folder').fill('Garden')
    await page.keyboard.press('Enter')
    await dialogOf(page).getByText('named “Garden” already').waitFor()
    await dialogOf(page).getByLabel('Name of the folder').fill('Old')
    await page.keyboard.press('Enter')
    await dialogOf(page).getByRole('button', { name: 'Move here' }).click()
    await page.getByText('2 files were moved.').waitFor()
    const moved = ['Old/', 'Old/Photos/2025/beach.jpg', 'Old/Photos/2026/a.jpg']
    expect(await stored()).toEqual([FILES[0], ...moved, 'b.jpg', 'c.jpg'])
    await expect.poll(() => names(page)).toEqual(['Garden', 'Old', 'b.jpg', 'c.jpg'])
    await undo(page, '2 files were moved.')
    await expect.poll(stored).toEqual([FILES[0], 'Old/', ...FILES.slice(1)])
    await expect.poll(() => names(page)).toEqual(['Garden', 'Old', 'Photos', 'b.jpg', 'c.jpg'])
  })

  it('move a folder in one request, with what has come meanwhile, or in several if it is large', async () => {
    const page = await open()
    const asked: unknown[] = []
    page.on('request', (request) => {
      if (!request.url().endsWith('/batch')) return
      asked.push(...(request.postDataJSON() as { operations: unknown[] }).operations)
    })
    const owner = user
    const put = (name: string) => upload(service, { user: owner, name, content: '' })
    const late = async (route: Route) => {
      await put('Photos/late.jpg')
      await route.continue()
    }
    await page.route('**/users/me/batch', late, { times: 1 })
    await item(page, 'Photos').dragTo(item(page, 'Garden'))
    await page.getByText('2 files were moved.').waitFor()
    expect(asked).toEqual([{ op: 'rename', prefix: 'Photos/', new_prefix: 'Garden/Photos/' }])
    expect(await stored()).toContain('Garden/Photos/late.jpg')
    await undo(page, '2 files were moved.')
    await expect.poll(stored).toContain('Photos/late.jpg')
    // It grows beyond a batch just then.
    asked.length = 0
    const many = Array.from({ length: 999 }, (_, at) => `Photos/many/${at}`)
    const grow = async (route: Route) => {
      for (let at = 0; at < many.length; at += 50)
        await Promise.all(many.slice(at, at + 50).map(put))
      await route.continue()
    }
    await page.route('**/users/me/batch', grow, { times: 1 })
    await item(page, 'Photos').dragTo(item(page, 'Garden'))
    await page.getByText('3 files were moved.').waitFor()
    expect(asked).toHaveLength(4)
    await expect.poll(() => names(page)).toContain('Photos')
    asked.length = 0
    await item(page, 'Garden').dragTo(item(page, 'Photos'))
    await page.getByText('4 files were moved.').waitFor()
    await actOn(page, { action: 'Delete', name: 'Photos' })
    await page.getByText('1,003 files were deleted.').waitFor({ timeout: 60_000 })
    expect(asked.length).toBeGreaterThan(1_000)
    expect(await stored()).toEqual(['b.jpg', 'c.jpg'])
    await undo(page, '1,003 files were deleted.')
    await page.getByText('Photos').waitFor()
    await expect.poll(async () => (await stored()).length, { timeout: 60_000 }).toBe(1_000)
  })

  it('make no folder of the name of a file', async () => {
    await upload(service, { user, name: 'Garden/Photos', content: 'x' })
    await upload(service, { user, name: 'Photos/b.jpg/c', content: 'x' })
    const page = await open()
    for (const [name, folder] of [
      ['Photos', 'Garden'],
      ['b.jpg', 'Photos'],
    ] as const) {
      await actOn(page, { action: 'Move', name })
      await dialogOf(page).getByRole('button', { name: folder, exact: true }).click()
      await dialogOf(page).getByRole('button', { name: 'Move here' }).click()
      await dialogOf(page).getByText(`named “${name}” already`).waitFor()
      await page.keyboard.press('Escape')
    }
    expect(await stored()).toHaveLength(FILES.length + 2)
  })

  it.each(['list', 'grid'])('go by dragging onto a folder in the %s', async (layout) => {
    const page = await open()
    if (layout === 'grid') await page.getByRole('button', { name: 'Show as a grid' }).click()
    await item(page, 'b.jpg').dragTo(item(page, 'Garden'))
    await page.getByText('1 file was moved.').waitFor()
    expect(await stored()).toContain('Garden/b.jpg')
    await item(page, 'Photos').dragTo(item(page, 'Garden'))
    await page.getByText('2 files were moved.').waitFor()
    await expect.poll(() => names(page)).toEqual(['Garden', 'c.jpg'])
    expect(await stored()).toContain('Garden/Photos/2026/a.jpg')
    // A file takes nothing.
    await item(page, 'Garden').dragTo(item(page, 'c.jpg'))
    expect(await names(page)).toEqual(['Garden', 'c.jpg'])
  })

  it('go by dragging the selection onto a breadcrumb', async () => {
    const page = await open({ path: '/#folder=Photos%2F' })
    await page.keyboard.press('Control+a')
    await page.getByText('2 selected', { exact: true }).waitFor()
    await item(page, '2025').dragTo(crumb(page, 'All files'))
    await page.getByText('2 files were moved.').waitFor()
    const moved = ['2025/beach.jpg', '2026/a.jpg', 'Garden/plan.pdf']
    // The folder stays, as the user is in it.
    await expect.poll(stored).toEqual([...moved, 'Photos/', 'b.jpg', 'c.jpg'])
    await page.getByText('Nothing in “Photos”').waitFor()
  })

  it('show where it goes, and end with Escape', async () => {
    const page = await open()
    const target = await hoverWhileDragging(page, item(page, 'b.jpg'), item(page, 'Garden'))
    expect(await target()).toEqual(['Garden/'])
    await page.keyboard.press('Escape')
    await page.mouse.up()
    await expect.poll(target).toEqual([])
    expect(await stored()).toEqual(FILES)
    // The folder that is dragged is none to drop on.
    const own = await hoverWhileDragging(page, item(page, 'Photos'), item(page, 'Photos'))
    expect(await own()).toEqual([])
    await page.mouse.up()
  })

  it('are not offered to a token that may not make them', async () => {
    const cookie = `access_token=${await issue(service, user, { actions: ['read', 'create'] })}`
    const page = await open({ user: { ...user, cookie } })
    expect(await page.getByRole('button', { name: 'Move b.jpg' }).count()).toBe(0)
    await item(page, 'b.jpg').dragTo(item(page, 'Garden'))
    expect(await stored()).toEqual(FILES)
  })

  it('files from outside are uploaded into the folder on which they are dropped', async () => {
    const page = await open()
    const folder = await createFolder('dropped')
    onTestFinished(() => folder.remove())
    await writeFile(join(folder.path, 'rose.jpg'), 'x')
    const session = await page.context().newCDPSession(page)
    const { x = 0, y = 0, height = 0 } = (await item(page, 'Garden').boundingBox()) ?? {}
    const data = { items: [], files: [join(folder.path, 'rose.jpg')], dragOperationsMask: 1 }
    const at = { x: x + 100, y: y + height / 2, data }
    for (const type of ['dragEnter', 'dragOver'] as const)
      await session.send('Input.dispatchDragEvent', { type, ...at })
    await page.getByText('Drop to upload to “Garden”').waitFor()
    await session.send('Input.dispatchDragEvent', { type: 'drop', ...at })
    await expect.poll(stored).toContain('Garden/rose.jpg')
    expect(await page.locator('.drop-target').count()).toBe(0)
  })

  it('have a dialog that fits a phone', async () => {
    const page = await open(TOUCH)
    await actOn(page, { action: 'Move', name: 'b.jpg' })
    await dialogOf(page).getByRole('button', { name: 'Photos' }).waitFor()
    expect(await smallTargets(page)).toEqual([])
    expect(await violationsIn(page)).toEqual([])
    await dialogOf(page).getByRole('button', { name: 'New folder' }).click()
    await dialogOf(page).getByLabel('Name of the folder').fill('Old')
    expect(await smallTargets(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })
})

async function focused(page: Page): Promise<unknown> {
  return page.evaluate('document.activeElement.textContent')
}

/** Drags one over another, and returns what tells the folders that would take it. */
async function hoverWhileDragging(page: Page, dragged: Locator, target: Locator) {
  await dragged.hover({ position: { x: 150, y: 20 } })
  await page.mouse.down()
  const { x = 0, y = 0 } = (await target.boundingBox()) ?? {}
  for (const step of [0, 5, 10]) await page.mouse.move(x + 150 + step, y + 20)
  const targets = `[...document.querySelectorAll('.drop-target')].map(({ dataset }) => dataset.folder)`
  return () => page.evaluate(targets)
}
