import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { namesOf, remove } from '../http/file-requests.ts'
import { upload } from '../http/fixture.ts'
import { issue } from '../http/scopes/scoped-requests.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, effectsRun, names, openWithPage, pick, visitAs } from './fixture.ts'
import { actOn, expectSound, TOUCH, violationsIn } from './looks.ts'

const FILES = [
  'Garden/plan.pdf',
  'Photos/2025/beach.jpg',
  'Photos/2026/10.jpg',
  'Photos/2026/9.jpg',
  'Photos/Photo of a friend.jpg',
  'notes.md',
]

describeInBrowser('folders', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(2 ** 20)
    for (const name of FILES) await put(name)
  })

  const put = (name: string) => upload(service, { user, name, content: 'x' })

  const stored = () => namesOf(service, { user })

  async function open(path = '/'): Promise<Page> {
    const page = await visitAs({ browser: browser(), service, user, path })
    await page.locator('.rows .name').first().waitFor()
    return page
  }

  it('open and lead back by breadcrumbs, the buttons of the browser and the address', async () => {
    const page = await open()
    expect(await names(page)).toEqual(['Garden', 'Photos', 'notes.md'])
    await expectSound(page)
    await openFolder(page, 'Photos')
    await expect.poll(() => names(page)).toEqual(['2025', '2026', 'Photo of a friend.jpg'])
    await openFolder(page, '2026')
    await expect.poll(() => names(page)).toEqual(['9.jpg', '10.jpg'])
    await page.reload()
    await expect.poll(() => names(page)).toEqual(['9.jpg', '10.jpg'])
    expect(await wayOf(page)).toEqual(['All files', 'Photos', '2026'])
    await page.goBack()
    await expect.poll(() => names(page)).toEqual(['2025', '2026', 'Photo of a friend.jpg'])
    await page.goForward()
    await expect.poll(() => names(page)).toEqual(['9.jpg', '10.jpg'])
    await page.getByRole('button', { name: 'All files' }).click()
    await expect.poll(() => names(page)).toEqual(['Garden', 'Photos', 'notes.md'])
    expect(new URL(page.url()).hash).toBe('')
  })

  it('come first in the grid too, where keys open them and lead back to them', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Show as a grid' }).click()
    await page.locator('.tile').first().waitFor()
    await expectSound(page)
    await page.locator('.tile').first().focus()
    await page.keyboard.press('ArrowRight')
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toContain('Photos')
    await page.keyboard.press('Enter')
    await expect.poll(focused).toContain('2025')
    await page.goBack()
    await expect.poll(focused).toContain('Photos')
    await page.keyboard.press('End')
    await expect.poll(focused).toContain('notes.md')
  })

  it('say how many files are in them, and how large they are', async () => {
    const page = await open()
    const row = (name: string) => page.locator('[data-index]', { hasText: name })
    await row('Photos').getByText('4 files').waitFor()
    await row('Photos').getByText('4 bytes').waitFor()
    await row('Garden').getByText('1 file', { exact: true }).waitFor()
    await upload(service, { user, name: 'Garden/rose.jpg', content: 'xxx' })
    await row('Garden').getByText('2 files').waitFor()
    await row('Garden').getByText('4 bytes').waitFor()
    await upload(service, { user, name: 'Empty/', content: '' })
    await row('Empty').getByText('0 files').waitFor()
    await page.getByRole('button', { name: 'Show as a grid' }).click()
    await page.locator('.tile', { hasText: 'Photos' }).getByText('4 files').waitFor()
    await expectSound(page)
  })

  it('appear with their first file, and go with the last one', async () => {
    const page = await open()
    await put('New/a.txt')
    await expect.poll(() => names(page)).toEqual(['Garden', 'New', 'Photos', 'notes.md'])
    await remove(service, { user, name: 'Garden/plan.pdf' })
    await expect.poll(() => names(page)).toEqual(['New', 'Photos', 'notes.md'])
    await openFolder(page, 'New')
    await page.getByRole('button', { name: 'Delete New/a.txt' }).click({ force: true })
    await page.getByText('Nothing in “New”').waitFor()
    await expectSound(page)
    const chosen = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose files' }).click()
    await (await chosen).setFiles([{ name: 'b.txt', mimeType: '', buffer: Buffer.from('x') }])
    await expect.poll(() => names(page)).toEqual(['b.txt'])
    await page.goBack()
    await expect.poll(() => names(page)).toEqual(['New', 'Photos', 'notes.md'])
  })

  it('stay when their last file is deleted or moved away here', async () => {
    const page = await open('/#folder=Garden%2F')
    await page.getByRole('button', { name: 'Delete Garden/plan.pdf' }).click({ force: true })
    await page.getByText('Nothing in “Garden”').waitFor()
    await expect.poll(stored).toContain('Garden/')
    await page.getByRole('button', { name: 'All files' }).click()
    await expect.poll(() => names(page)).toEqual(['Garden', 'Photos', 'notes.md'])
    await undo(page)
    await expect.poll(stored).toEqual(['Garden/', ...FILES])
  })

  it('get a marker by what is shown, not by what is being opened', async () => {
    await put('Garden/Beds/rose.jpg')
    const page = await open('/#folder=Garden/Beds/')
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    // The list that is opened, which comes last.
    await page.route(/prefix=Garden%2F(&|$)/, async (route) => {
      await released
      await route.continue()
    })
    await page.getByRole('button', { name: 'Garden', exact: true }).click()
    const kept = page.waitForRequest((request) => request.method() === 'PUT')
    await actOn(page, { action: 'Delete', name: 'rose.jpg' })
    expect(new URL((await kept).url()).pathname).toMatch(/\/Garden\/Beds\/$/)
    release()
    await expect.poll(() => names(page)).toContain('plan.pdf')
    expect(await stored()).not.toContain('Garden/')
  })

  it('are searched with all that is in them, and the page says where it looked', async () => {
    const page = await open()
    await page.getByRole('searchbox').fill('9')
    await expect.poll(() => names(page)).toEqual(['Photos/2026/9.jpg'])
    await page.getByRole('searchbox').fill('photo')
    await expect.poll(() => names(page)).toHaveLength(4)
    expect(await wayOf(page)).toEqual(['All files'])
    await page.goto(`${page.url()}#folder=Photos%2F`)
    await expect.poll(() => names(page)).toEqual(['Photo of a friend.jpg'])
    await page.getByRole('navigation', { name: 'Searched in' }).waitFor()
    await expectSound(page)
    await page.getByRole('searchbox').fill('garden')
    await page.getByText('No name in “Photos” contains “garden”').waitFor()
    await page.getByRole('searchbox').fill('a\\b')
    await page.getByText('contains “a\\b”').waitFor()
  })

  it('are made empty, by a name that is one, and take uploads', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'New folder' }).click()
    const dialog = page.getByRole('dialog', { name: 'New folder' })
    const name = dialog.getByLabel('Name of the folder')
    await dialog.locator('input:focus').waitFor()
    const create = dialog.getByRole('button', { name: 'Create' })
    expect(await create.isDisabled()).toBe(true)
    for (const [text, problem] of [
      ['a/b', 'cannot contain /'],
      ['..', 'cannot contain /'],
      ['Photos', 'named “Photos” already'],
      ['notes.md', 'named “notes.md” already'],
    ] as const) {
      await name.fill(text)
      await create.click()
      await dialog.getByText(problem).waitFor()
    }
    expect(await stored()).toEqual(FILES)
    await expectSound(page)
    await name.fill('Movies')
    await name.press('Enter')
    await expect.poll(() => names(page)).toEqual(['Garden', 'Movies', 'Photos', 'notes.md'])
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toContain('Movies')
    await openFolder(page, 'Movies')
    await page.getByText('Nothing in “Movies”').waitFor()
    await pick(page, [{ path: 'sea.mov', content: 'x' }])
    await expect.poll(() => names(page)).toEqual(['sea.mov'])
    expect(await stored()).toEqual(expect.arrayContaining(['Movies/', 'Movies/sea.mov']))
  })

  it('are renamed with all that is in them, and back again', async () => {
    const page = await open()
    await actOn(page, { action: 'Rename', name: 'Photos' })
    const dialog = page.getByRole('dialog', { name: 'Rename' })
    await dialog.getByLabel('New name').fill('Garden')
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await dialog.getByText('named “Garden” already').waitFor()
    await dialog.getByLabel('New name').fill('Pictures')
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await expect.poll(() => names(page)).toEqual(['Garden', 'Pictures', 'notes.md'])
    await page.getByText('“Photos” was renamed.').waitFor()
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toContain('Pictures')
    const renamed = FILES.map((name) => name.replace('Photos/', 'Pictures/'))
    await expect.poll(stored).toEqual(renamed.toSorted())
    await undo(page)
    await expect.poll(stored).toEqual(FILES)
    await expect.poll(() => names(page)).toEqual(['Garden', 'Photos', 'notes.md'])
    await expect.poll(focused).toContain('Photos')
  })

  it('are opened once by a double click, not with what is in them', async () => {
    const page = await open()
    const photos = page.getByRole('button', { name: 'Folder Photos' })
    // On the name, and beside it.
    for (const aside of [5, 300]) {
      const { x = 0, y = 0 } = (await photos.boundingBox()) ?? {}
      await page.mouse.click(x + aside, y + 5)
      await expect.poll(() => names(page)).not.toContain('Photos')
      const inside = await names(page)
      await page.mouse.down({ clickCount: 2 })
      await page.mouse.up({ clickCount: 2 })
      await effectsRun(page)
      expect(await names(page)).toEqual(inside)
      expect(await page.getByRole('dialog').count()).toBe(0)
      await page.goBack()
      await photos.waitFor()
    }
  })

  it('are deleted with all that is in them, and restored', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Folder Photos' }).focus()
    await page.keyboard.press('Delete')
    await page.getByText('4 files were deleted.').waitFor()
    await expect.poll(() => names(page)).toEqual(['Garden', 'notes.md'])
    expect(await stored()).toEqual(['Garden/plan.pdf', 'notes.md'])
    await undo(page)
    await expect.poll(stored).toEqual(FILES)
    await expect.poll(() => names(page)).toEqual(['Garden', 'Photos', 'notes.md'])
  })

  it('are downloaded as one archive, from their row and when only one is selected', async () => {
    const page = await open()
    const nameOf = async (click: () => Promise<unknown>) => {
      const begun = page.waitForEvent('download')
      await click()
      return (await begun).suggestedFilename()
    }
    const row = page.getByRole('row', { name: 'Photos' })
    const byRow = await nameOf(() => row.getByTitle('Download').click({ force: true }))
    expect(byRow).toBe('Photos.zip')
    await page.getByRole('checkbox', { name: 'Select Folder Photos' }).click()
    const bar = page.getByRole('group', { name: 'Selected files' })
    await bar.getByText('4 selected').waitFor()
    const bySelection = await nameOf(() => bar.getByRole('button', { name: 'Download' }).click())
    expect(bySelection).toBe('Photos.zip')
    await bar.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('dialog', { name: 'Share' }).getByText('Photos').waitFor()
  })

  it('have the actions of a file that a folder can have, on a phone too', async () => {
    const page = await visitAs({ browser: browser(), service, user, ...TOUCH })
    await page.getByRole('button', { name: 'Actions for Photos' }).click()
    const dialog = page.getByRole('dialog', { name: 'Actions for Photos' })
    await dialog.waitFor()
    const offered = await dialog.locator('.choices > *').allTextContents()
    expect(offered).toEqual(['Select', 'Download', 'Share', 'Rename', 'Move', 'Delete'])
    expect(await violationsIn(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
    const address = await page.getByLabel('Link', { exact: true }).inputValue()
    const reply = await fetch(address, { headers: { accept: 'application/json' } })
    expect(await reply.text()).toContain('Photo of a friend.jpg')
  })

  it('are no part of the name that a file gets', async () => {
    const page = await open('/#folder=Photos%2F')
    await actOn(page, { action: 'Rename', name: 'Photo of a friend.jpg' })
    const field = page.getByLabel('New name')
    const rename = page.getByRole('dialog').getByRole('button', { name: 'Rename' })
    expect(await field.inputValue()).toBe('Photo of a friend.jpg')
    await field.fill('a/b.jpg')
    await rename.click()
    await page.getByText('cannot contain /').waitFor()
    // A file and a folder of the same name are for no other system.
    await field.fill('2025')
    await rename.click()
    await page.getByText('named “2025” already').waitFor()
    await field.fill('friend.jpg')
    await rename.click()
    await expect.poll(() => names(page)).toEqual(['2025', '2026', 'friend.jpg'])
    expect(await stored()).toContain('Photos/friend.jpg')
  })

  it('are left when the user signs out', async () => {
    const page = await open('/#folder=Photos%2F')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(new URL(page.url()).hash).toBe('')
  })

  it('folders that a narrow token is limited to are around everything, and take its uploads', async () => {
    const scope = { actions: ['read', 'create'], prefix: 'Photos/20' }
    const narrow = await issue(service, user, scope)
    user = { ...user, cookie: `access_token=${narrow}` }
    // Not within the scope.
    const page = await open('/#folder=Garden%2F')
    await expect.poll(() => names(page)).toEqual(['2025', '2026'])
    await openFolder(page, '2025')
    await pick(page, [{ path: 'sea.jpg', content: 'x' }])
    await expect.poll(() => names(page)).toEqual(['beach.jpg', 'sea.jpg'])
    expect(await wayOf(page)).toEqual(['All files', '2025'])
  })
})

async function openFolder(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Folder ${name}` }).click()
}

async function undo(page: Page): Promise<void> {
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
}

async function wayOf(page: Page): Promise<readonly string[]> {
  return page.locator('.breadcrumbs button').allTextContents()
}
