import { readFile } from 'node:fs/promises'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { change, list, namesOf, pageOf, remove } from '../http/file-requests.ts'
import { download, upload } from '../http/fixture.ts'
import { issue } from '../http/scopes/scoped-requests.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, effectsRun, names, openWithPage, visit, visitAs } from './fixture.ts'
import { violationsIn } from './looks.ts'

const NAMES = ['alpha.txt', 'beta.txt', 'gamma.txt', 'trip - a.jpg', 'trip - b.jpg']

const PHONE = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } }

describeInBrowser('many files at once', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(2 ** 22)
    for (const name of NAMES) await put(name, 'x'.repeat(200))
  })

  const put = (name: string, content: string) => upload(service, { user, name, content })

  const stored = () => namesOf(service, { user })

  const statesOf = async (member: string) =>
    pageOf(await list(service, { user })).files.map((file) => file[member])

  async function open(options: Partial<Parameters<typeof visitAs>[0]> = {}): Promise<Page> {
    const page = await visitAs({ browser: browser(), service, user, ...options })
    await page.locator('[data-index]').last().waitFor()
    return page
  }

  const item = (page: Page, name: string) => page.locator('[data-index]', { hasText: name })
  const barOf = (page: Page) => page.getByRole('group', { name: 'Selected files' })
  const says = (page: Page, text: string) => barOf(page).getByText(text, { exact: true }).waitFor()

  async function press(page: Page, action: string): Promise<void> {
    await barOf(page).getByRole('button', { name: action, exact: true }).click()
  }

  async function select(page: Page, ...selected: readonly string[]): Promise<void> {
    for (const name of selected) {
      await item(page, name).click({ modifiers: ['Control'], position: { x: 120, y: 10 } })
    }
    await says(page, `${selected.length} selected`)
  }

  async function undo(page: Page, text: string): Promise<void> {
    const toast = page.locator('.toast', { hasText: text })
    await toast.getByRole('button', { name: 'Undo' }).click()
  }

  it('are selected with check boxes and Shift, in any order of the list, and deleted with one undo', async () => {
    const page = await open()
    await page.getByRole('checkbox', { name: 'Select alpha.txt' }).click()
    await page.getByRole('checkbox', { name: 'Select gamma.txt' }).click({ modifiers: ['Shift'] })
    await says(page, '3 selected')
    await says(page, '600 bytes')
    await page.getByRole('button', { name: 'Name', exact: true }).click()
    await expect.poll(() => names(page)).toEqual(NAMES.toReversed())
    // While files are selected, a click does not open one.
    await page.getByRole('button', { name: 'gamma.txt', exact: true }).click()
    await says(page, '2 selected')
    await press(page, 'Delete')
    const left = ['gamma.txt', 'trip - a.jpg', 'trip - b.jpg']
    await page.getByText('2 files were deleted.').waitFor()
    expect(await stored()).toEqual(left)
    expect(await page.locator('.toast').count()).toBe(1)
    expect(await barOf(page).count()).toBe(0)
    await undo(page, '2 files were deleted.')
    await expect.poll(stored).toEqual(NAMES)
    await expect.poll(() => names(page)).toEqual(NAMES.toReversed())
  })

  it.each(['list', 'grid'])('are selected by keys in the %s', async (layout) => {
    const page = await open()
    if (layout === 'grid') await page.getByRole('button', { name: 'Show as a grid' }).click()
    const next = layout === 'grid' ? 'ArrowRight' : 'ArrowDown'
    await item(page, 'alpha.txt').focus()
    await page.keyboard.press('Space')
    await says(page, '1 selected')
    await page.keyboard.press(`Shift+${next}`)
    await page.keyboard.press(`Shift+${next}`)
    await says(page, '3 selected')
    expect(await item(page, 'gamma.txt').getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Escape')
    await barOf(page).waitFor({ state: 'detached' })
    await page.keyboard.press('Control+a')
    await says(page, '5 selected')
    expect(await violationsIn(page)).toEqual([])
    await remove(service, { user, name: 'beta.txt' })
    await says(page, '4 selected')
    await page.keyboard.press('Delete')
    await page.getByText('4 files were deleted.').waitFor()
    expect(await stored()).toEqual([])
  })

  it('are selected by the actions of a long press, then by taps, on a phone', async () => {
    const page = await open(PHONE)
    const session = await page.context().newCDPSession(page)
    const { x = 0, y = 0 } = (await item(page, 'beta.txt').boundingBox()) ?? {}
    const touchPoints = [{ x: x + 100, y: y + 20 }]
    await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
    const select = page.getByRole('dialog').getByRole('button', { name: 'Select', exact: true })
    await select.waitFor()
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    await select.tap()
    await says(page, '1 selected')
    await item(page, 'gamma.txt').tap()
    await says(page, '2 selected')
    await item(page, 'beta.txt').tap()
    await says(page, '1 selected')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await item(page, 'gamma.txt').tap()
    await barOf(page).waitFor({ state: 'detached' })
    await item(page, 'gamma.txt').tap()
    await page.getByRole('dialog', { name: 'gamma.txt' }).waitFor()
  })

  it('have actions whose labels do not overlap in German, on a phone', async () => {
    const options = { browser: browser(), service, user, ...PHONE, locale: 'de' }
    const page = await visit(options)
    await item(page, 'alpha.txt').focus()
    await page.keyboard.press('Space')
    await page.locator('.selection-actions').waitFor()
    const beyond = `[...document.querySelectorAll('.selection-actions .button')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`
    expect(await page.evaluate(beyond)).toBe(0)
    const last = await page.locator('.selection-actions .button').last().boundingBox()
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThan(390 - 12)
  })

  it('files that are deleted one after another share one message and its undo', async () => {
    const page = await open()
    for (const name of ['alpha.txt', 'beta.txt']) {
      await page.getByRole('button', { name: `Delete ${name}` }).click({ force: true })
    }
    await page.getByText('2 files were deleted.').waitFor()
    expect(await page.locator('.toast').count()).toBe(1)
    await undo(page, '2 files were deleted.')
    await expect.poll(stored).toEqual(NAMES)
  })

  it('are deleted except those that have changed, which stay selected', async () => {
    const page = await open()
    await select(page, 'alpha.txt', 'beta.txt')
    const replace = async (route: Route) => {
      await put('beta.txt', 'new')
      await route.continue()
    }
    await page.route('**/users/me/batch', replace, { times: 1 })
    await press(page, 'Delete')
    await page.getByText('Not done for 1 of 2 files: They have changed or are gone.').waitFor()
    await page.getByText('“alpha.txt” was deleted.').waitFor()
    await says(page, '1 selected')
    expect((await download(service, { user, name: 'beta.txt' })).body.toString()).toBe('new')
  })

  it('are moved, but never over another file, and moved back when that is undone', async () => {
    await put('Norway/trip - b.jpg', 'other')
    const page = await open()
    await select(page, 'trip - a.jpg', 'trip - b.jpg')
    await press(page, 'Move')
    const dialog = page.getByRole('dialog', { name: 'Move' })
    await dialog.getByRole('button', { name: 'Norway' }).click()
    await dialog.getByRole('button', { name: 'Move here' }).click()
    await dialog.getByText('named “trip - b.jpg” already').waitFor()
    await remove(service, { user, name: 'Norway/trip - b.jpg' })
    // A name that is taken when the page does not know of it yet.
    const take = async (route: Route) => {
      await put('Norway/trip - b.jpg', 'other')
      await route.continue()
    }
    await page.route('**/users/me/batch', take, { times: 1 })
    await dialog.getByRole('button', { name: 'Move here' }).click()
    await page.getByText('Not done for 2 of 2 files: There are files with these names.').waitFor()
    await remove(service, { user, name: 'Norway/trip - b.jpg' })
    await put('Norway/', '')
    await select(page, 'trip - a.jpg', 'trip - b.jpg')
    await press(page, 'Move')
    await dialog.getByRole('button', { name: 'Norway' }).click()
    await dialog.getByRole('button', { name: 'Move here' }).click()
    await page.getByText('2 files were moved.').waitFor()
    expect(await stored()).toContain('Norway/trip - a.jpg')
    await undo(page, '2 files were moved.')
    await expect.poll(stored).toEqual(['Norway/', ...NAMES])
  })

  it('are selected with their folder, which is renamed, deleted and restored with them', async () => {
    for (const name of ['Trip/a.jpg', 'Trip/Rome/b.jpg']) await put(name, 'x'.repeat(100))
    const page = await open()
    await page.getByRole('checkbox', { name: 'Select Folder Trip' }).click()
    await says(page, '2 selected')
    await says(page, '200 bytes')
    await press(page, 'Move')
    const dialog = page.getByRole('dialog', { name: 'Move' })
    await dialog.getByRole('button', { name: 'New folder' }).click()
    await dialog.getByLabel('Name of the folder').fill('Italy')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Move here' }).click()
    await page.getByText('2 files were moved.').waitFor()
    await item(page, 'Italy').focus()
    await page.keyboard.press('Space')
    await says(page, '2 selected')
    expect(await item(page, 'Italy').getAttribute('aria-selected')).toBe('true')
    expect(await violationsIn(page)).toEqual([])
    await press(page, 'Select all')
    await says(page, '7 selected')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+a')
    await says(page, '7 selected')
    await page.keyboard.press('Delete')
    await page.getByText('7 files were deleted.').waitFor()
    await page.getByText('Nothing here yet').waitFor()
    await undo(page, '7 files were deleted.')
    await expect
      .poll(stored)
      .toEqual(['Italy/', 'Italy/Trip/Rome/b.jpg', 'Italy/Trip/a.jpg', ...NAMES])
    await expect.poll(() => names(page)).toEqual(['Italy', ...NAMES])
  })

  it('are shared and kept, and become again what each was', async () => {
    await change(service, { user, name: 'beta.txt', body: { visibility: 'users', keep: true } })
    const page = await open()
    await select(page, 'alpha.txt', 'beta.txt', 'gamma.txt')
    const before = ['private', 'users', 'private', 'private', 'private']
    await press(page, 'Share')
    await page.getByText('Advanced').click()
    await page.getByRole('radio', { name: /^Public/ }).check()
    expect(await violationsIn(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click()
    await page.getByText('Sharing of 3 files was changed.').waitFor()
    const shared = ['public', 'public', 'public', 'private', 'private']
    expect(await statesOf('visibility')).toEqual(shared)
    await undo(page, 'Sharing of 3 files')
    await expect.poll(() => statesOf('visibility')).toEqual(before)
    await press(page, 'Keep')
    await page.getByText('2 files are kept.').waitFor()
    expect(await statesOf('keep')).toEqual([true, true, true, false, false])
    await undo(page, '2 files are kept.')
    await expect.poll(() => statesOf('keep')).toEqual([false, true, false, false, false])
  })

  it('get a link each, with names as they are', async () => {
    const page = await open()
    await select(page, 'trip - a.jpg', 'trip - b.jpg')
    await press(page, 'Share')
    await page.getByRole('button', { name: 'Create 2 links' }).click()
    const lines = await page.getByLabel('Links', { exact: true }).inputValue()
    const links = lines.split('\n').map((line) => line.split(': ') as [string, string])
    expect(links.map(([name]) => name)).toEqual(['trip - a.jpg', 'trip - b.jpg'])
    for (const [name, address] of links) {
      const reply = await fetch(address, { headers: { accept: 'application/json' } })
      expect(await reply.json()).toMatchObject({ files: [{ name }] })
    }
    expect(await violationsIn(page)).toEqual([])
  })

  it('get one link if they are all that is in their folder', async () => {
    for (const name of ['Trip/a.jpg', 'Trip/b.jpg']) await put(name, 'x')
    const page = await open()
    await page.getByRole('button', { name: 'Folder Trip' }).click()
    await expect.poll(() => names(page)).toEqual(['a.jpg', 'b.jpg'])
    await select(page, 'a.jpg', 'b.jpg')
    await press(page, 'Share')
    await page.getByText('One link to all of them.').waitFor()
    await page.getByRole('button', { name: 'Create link' }).click()
    const address = await page.getByLabel('Link', { exact: true }).inputValue()
    const reply = await fetch(address, { headers: { accept: 'application/json' } })
    const { files } = (await reply.json()) as { files: { name: string }[] }
    expect(files.map(({ name }) => name)).toEqual(['a.jpg', 'b.jpg'])
  })

  it('cannot be selected while another folder is read, in which they are out of sight', async () => {
    await put('Trip/a.jpg', 'x')
    const page = await open()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(/prefix=Trip/, async (route) => {
      await released
      await route.continue()
    })
    await page.getByRole('button', { name: 'Folder Trip' }).click()
    await item(page, 'alpha.txt').click({ modifiers: ['Control'], position: { x: 120, y: 10 } })
    await page.getByRole('checkbox', { name: 'Select beta.txt' }).click()
    await page.keyboard.press('Control+a')
    expect(await barOf(page).count()).toBe(0)
    release()
    await expect.poll(() => names(page)).toEqual(['a.jpg'])
    expect(await barOf(page).count()).toBe(0)
  })

  it('are not selected out of sight because they could not be deleted', async () => {
    await put('Trip/a.jpg', 'x')
    const page = await open()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(/users\/me\/(batch|repo\/)/, async (route) => {
      await released
      await put('alpha.txt', 'new')
      await route.continue()
    })
    await select(page, 'alpha.txt')
    await page.keyboard.press('Delete')
    await page.getByRole('button', { name: 'Folder Trip' }).click()
    await expect.poll(() => names(page)).toEqual(['a.jpg'])
    release()
    await page.locator('.toast', { hasText: 'changed' }).waitFor()
    await effectsRun(page)
    expect(await barOf(page).count()).toBe(0)
  })

  it('are downloaded as one archive', async () => {
    const page = await open()
    await select(page, 'alpha.txt', 'beta.txt')
    const begun = page.waitForEvent('download')
    await press(page, 'Download')
    const content = await readFile(await (await begun).path(), 'latin1')
    expect(content).toContain('beta.txt')
    expect(content).not.toContain('gamma.txt')
  })

  it('are only offered what the token permits', async () => {
    const cookie = `access_token=${await issue(service, user, { actions: ['read', 'replace'] })}`
    const page = await open({ user: { ...user, cookie } })
    await select(page, 'alpha.txt')
    const offered = barOf(page).locator('.selection-actions')
    expect((await offered.allInnerTexts()).join().split('\n')).toEqual(['Download', 'Keep'])
    await page.keyboard.press('Delete')
    await press(page, 'Keep')
    await page.getByText('1 file is kept.').waitFor()
    expect(await stored()).toEqual(NAMES)
  })

  it('more than a batch or an archive takes are told as they are', async () => {
    const page = await visit({ browser: browser(), service, user, path: '/livez' })
    const batches: number[] = []
    let pages = 0
    const time = '2026-01-01T00:00:00Z'
    const files = Array.from({ length: 2_400 }, (_, at) => ({
      name: `file ${at + 1_000}`,
      user_id: user.userId,
      size: 1024,
      etag: String(at),
      visibility: 'private',
      created_at: time,
      updated_at: time,
    }))
    await page.route('**/users/me/repo?*', async (route) => {
      const { searchParams } = new URL(route.request().url())
      pages += 1
      const from = Number(searchParams.get('cursor') ?? 0)
      const to = from + Number(searchParams.get('limit'))
      const next_cursor = to < files.length ? String(to) : null
      await route.fulfill({ json: { files: files.slice(from, to), next_cursor } })
    })
    await page.route('**/users/me/batch', async (route) => {
      const { operations } = route.request().postDataJSON() as { operations: object[] }
      batches.push(operations.length)
      const capacity = { capacity: 1, used: 0, reserved: 0, available: 1 }
      const results = operations.map(() => ({ op: 'delete', name: '', file: null }))
      const refusal = { status: 403, json: { code: 'scope_insufficient', detail: 'No.' } }
      await route.fulfill(batches.length === 1 ? { json: { results, capacity } } : refusal)
    })
    await page.goto(service.url)
    await page.getByText('file 1000', { exact: true }).waitFor()
    await expect.poll(() => pages).toBe(4)
    await page.locator('[role=grid][aria-busy=false]').waitFor()
    await page.keyboard.press('Control+a')
    await says(page, '2,000 selected')
    await says(page, 'Not all files are listed yet.')
    await press(page, 'Download')
    await expect.poll(() => page.locator('.archives a').count()).toBe(10)
    await page.keyboard.press('Escape')
    await press(page, 'Select all')
    await says(page, '2,400 selected')
    await press(page, 'Download')
    await page.getByText('One archive: 2,400 files').waitFor()
    await page.keyboard.press('Escape')
    await press(page, 'Delete')
    await page.getByText('Not done for 1,400 of 2,400 files').waitFor()
    expect(batches).toEqual([1_000, 1_000])
    await says(page, '1,400 selected')
    // What takes several requests says how far it is, and can be ended before the next one.
    const answered = Promise.withResolvers<void>()
    await page.route('**/users/me/batch', async (route) => {
      await answered.promise
      await route.fallback()
    })
    batches.length = 0
    await press(page, 'Delete')
    await page.getByText('0 of 1,400 files …').waitFor()
    await page.locator('.toast', { hasText: '0 of 1,400' }).getByText('Cancel').click()
    answered.resolve()
    await page.getByText('Not done for 400 of 1,400 files: You have cancelled it.').waitFor()
    expect(batches).toEqual([1_000])
    await says(page, '400 selected')
  })

  it.each([
    ['phone', PHONE],
    ['low', { ...PHONE, colorScheme: 'dark', viewport: { width: 844, height: 390 } }],
  ] as const)('look sound: %s', async (_name, options) => {
    const page = await open({ reducedMotion: 'reduce', ...options })
    await item(page, 'beta.txt').focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Shift+ArrowDown')
    await says(page, '2 selected')
    const small = `[...document.querySelectorAll('.selection button, .row .pick')]
      .map((element) => element.getBoundingClientRect())
      .filter(({ width, height }) => width < 44 || height < 44).length`
    expect(await page.evaluate(small)).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(
      page.viewportSize()?.width,
    )
    expect(await violationsIn(page)).toEqual([])
    await page.getByRole('button', { name: 'End the selection' }).click()
    await page.getByRole('button', { name: 'Show as a grid' }).click()
    await item(page, 'beta.txt').focus()
    await page.keyboard.press('Space')
    await says(page, '1 selected')
    await press(page, 'Move')
    await page.getByText('There are no folders in here.').waitFor()
    expect(await violationsIn(page)).toEqual([])
  })
})
