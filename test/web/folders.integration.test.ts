import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { remove } from '../http/file-requests.ts'
import { upload } from '../http/fixture.ts'
import { issue } from '../http/scopes/scoped-requests.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, names, openWithPage, pick, visitAs } from './fixture.ts'
import { expectSound } from './looks.ts'

const FILES = [
  'Garden›plan.pdf',
  'Photos›2025›beach.jpg',
  'Photos›2026›10.jpg',
  'Photos›2026›9.jpg',
  'Photos›Photo of a friend.jpg',
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

  async function open(path = '/'): Promise<Page> {
    const page = await visitAs({ browser: browser(), service, user, path })
    await page.locator('.rows .name').first().waitFor()
    return page
  }

  it('open and lead back by the way to them, the buttons of the browser and the address', async () => {
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
    await expect.poll(focused).toBe('Photos')
    await page.keyboard.press('Enter')
    await expect.poll(focused).toBe('2025')
    await page.goBack()
    await expect.poll(focused).toBe('Photos')
    await page.keyboard.press('End')
    await expect.poll(focused).toContain('notes.md')
  })

  it('appear with their first file, and go with the last one', async () => {
    const page = await open()
    await put('New›a.txt')
    await expect.poll(() => names(page)).toEqual(['Garden', 'New', 'Photos', 'notes.md'])
    await remove(service, { user, name: 'Garden›plan.pdf' })
    await expect.poll(() => names(page)).toEqual(['New', 'Photos', 'notes.md'])
    await openFolder(page, 'New')
    await page.getByRole('button', { name: 'Delete New›a.txt' }).click({ force: true })
    await page.getByText('Nothing in “New”').waitFor()
    await expectSound(page)
    const chosen = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose files' }).click()
    await (await chosen).setFiles([{ name: 'b.txt', mimeType: '', buffer: Buffer.from('x') }])
    await expect.poll(() => names(page)).toEqual(['b.txt'])
    await page.goBack()
    await expect.poll(() => names(page)).toEqual(['New', 'Photos', 'notes.md'])
  })

  it('are searched with all that is in them, and the page says where it looked', async () => {
    const page = await open()
    await page.getByRole('searchbox').fill('9')
    await expect.poll(() => names(page)).toEqual(['Photos›2026›9.jpg'])
    await page.getByRole('searchbox').fill('photo')
    await expect.poll(() => names(page)).toHaveLength(4)
    expect(await wayOf(page)).toEqual(['All files'])
    await page.goto(`${page.url()}#folder=Photos%E2%80%BA`)
    await expect.poll(() => names(page)).toEqual(['Photo of a friend.jpg'])
    await page.getByRole('navigation', { name: 'Searched in' }).waitFor()
    await expectSound(page)
    await page.getByRole('searchbox').fill('garden')
    await page.getByText('No name in “Photos” contains “garden”').waitFor()
    await page.getByRole('searchbox').fill('a\\b')
    await page.getByText('contains “a\\b”').waitFor()
  })

  it('can be switched off, which the browser remembers', async () => {
    const page = await open('/#folder=Photos%E2%80%BA')
    await page.getByRole('button', { name: 'Show whole names' }).click()
    await expect.poll(() => names(page)).toHaveLength(FILES.length)
    expect(await names(page)).toEqual(expect.arrayContaining(FILES))
    await page.reload()
    await expect.poll(() => names(page)).toEqual(expect.arrayContaining(FILES))
    await page.getByRole('button', { name: 'Show folders' }).click()
    await expect.poll(() => names(page)).toEqual(['Garden', 'Photos', 'notes.md'])
  })

  it('are part of the names: a file moves by a new name, in which a slash can be typed', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Rename notes.md' }).click({ force: true })
    await page.getByLabel('New name').fill('Garden/notes.md')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await expect.poll(() => names(page)).toEqual(['Garden', 'Photos'])
    await openFolder(page, 'Garden')
    await expect.poll(() => names(page)).toEqual(['notes.md', 'plan.pdf'])
    await page.getByRole('button', { name: 'Rename Garden›notes.md' }).click({ force: true })
    // Only what users rarely change is not selected.
    await page.locator('dialog input:focus').waitFor()
    await page.keyboard.type('ideas')
    await page.keyboard.press('Enter')
    await expect.poll(() => names(page)).toEqual(['ideas.md', 'plan.pdf'])
  })

  it('are left when the user signs out', async () => {
    const page = await open('/#folder=Photos%E2%80%BA')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(new URL(page.url()).hash).toBe('')
  })

  it('folders that a narrow token is limited to are around everything, and take its uploads', async () => {
    const scope = { actions: ['read', 'create'], prefix: 'Photos›20' }
    const narrow = await issue(service, user, scope)
    user = { ...user, cookie: `access_token=${narrow}` }
    // Not within the scope.
    const page = await open('/#folder=Garden%E2%80%BA')
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

async function wayOf(page: Page): Promise<readonly string[]> {
  return page.locator('.way button').allTextContents()
}
