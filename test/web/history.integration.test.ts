import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { remove } from '../http/file-requests.ts'
import { ask, download, jsonOf, upload } from '../http/fixture.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, names, openWithPage, visitAs } from './fixture.ts'

describeInBrowser('deleted and earlier versions', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(1000)
  })

  const put = (name: string, content: string) => upload(service, { user, name, content })
  const contentOf = async (name: string): Promise<string> =>
    (await download(service, { user, name })).body.toString()

  /** The page with the view of all versions. */
  async function openHistory(): Promise<Page> {
    const page = await visitAs({ browser: browser(), service, user })
    await page.getByRole('button', { name: 'Deleted and earlier versions' }).click()
    await page.getByRole('heading', { name: 'Deleted and earlier versions' }).waitFor()
    return page
  }

  it('say when they ended, and are downloaded as they were', async () => {
    await put('a.txt', 'one')
    await put('a.txt', 'second')
    await remove(service, { user, name: 'a.txt' })
    const page = await openHistory()
    await expect.poll(() => listed(page)).toHaveLength(2)
    const [newest, oldest] = await listed(page)
    expect(newest).toMatch(/^a\.txt\n6 bytes, deleted \d\d:\d\d, kept until .* at the latest/)
    expect(oldest).toMatch(/^a\.txt\n3 bytes, replaced \d\d:\d\d, kept until .* at the latest/)
    const begun = page.waitForEvent('download')
    await row(page, '3 bytes').getByRole('link', { name: 'Download a.txt' }).click()
    const saved = await begun
    expect(saved.suggestedFilename()).toBe('a.txt')
    expect(await readFile(await saved.path(), 'utf8')).toBe('one')
  })

  it('are restored, and are current again', async () => {
    await put('a.txt', 'content')
    await remove(service, { user, name: 'a.txt' })
    const page = await openHistory()
    await page.getByRole('button', { name: 'Restore a.txt' }).click()
    await page.getByText('“a.txt” was restored.').waitFor()
    await page.getByText('Nothing to restore').waitFor()
    await expect.poll(() => focused(page)).toBe('Deleted and earlier versions')
    expect(await contentOf('a.txt')).toBe('content')
    await page.getByRole('button', { name: 'All files' }).click()
    await expect.poll(() => names(page)).toEqual(['a.txt'])
  })

  it('replace a current file only when that is said, which then is an earlier version', async () => {
    await put('a.txt', 'old')
    await put('a.txt', 'current')
    const page = await openHistory()
    await page.getByRole('button', { name: 'Restore a.txt' }).click()
    const question = page.getByRole('dialog', { name: 'Replace the current file?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(await contentOf('a.txt')).toBe('current')
    await page.getByRole('button', { name: 'Restore a.txt' }).click()
    await question.getByRole('button', { name: 'Replace it' }).click()
    await row(page, '7 bytes').waitFor()
    expect(await listed(page)).toHaveLength(1)
    expect(await contentOf('a.txt')).toBe('old')
  })

  it('are not restored into less space than they need', async () => {
    await put('a.txt', 'x'.repeat(600))
    await remove(service, { user, name: 'a.txt' })
    await put('b.txt', 'x'.repeat(500))
    const page = await openHistory()
    await page.getByRole('button', { name: 'Restore a.txt' }).click()
    await page.getByText('Not enough space to restore “a.txt”: 500 bytes free.').waitFor()
    expect(await listed(page)).toHaveLength(1)
  })

  it('are deleted for good one by one or all at once, when that is confirmed', async () => {
    user = await service.createUser(100_000)
    for (const name of ['a', 'b', 'c', 'd']) {
      await put(name, name)
      await remove(service, { user, name })
    }
    await put('e', 'e')
    const page = await openHistory()
    const panel = page.getByRole('complementary', { name: 'Capacity' })
    await panel.getByText('Earlier versions: 16 KiB of 48 KiB').waitFor()
    await page.getByRole('button', { name: /^Delete b,.* for good$/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('You will not be able to restore it.').waitFor()
    await dialog.getByRole('button', { name: 'Delete for good' }).click()
    await expect.poll(() => listed(page)).toHaveLength(3)
    await expect.poll(() => focused(page)).toBe('Deleted and earlier versions')
    await page.getByRole('button', { name: 'Delete all for good' }).click()
    await dialog.getByRole('button', { name: 'Delete all for good' }).click()
    await page.getByText('Nothing to restore').waitFor()
    await panel.getByText(/^Earlier versions/).waitFor({ state: 'detached' })
    const kept = jsonOf(await ask(service, { user, path: '/users/me/history' }))
    expect(kept).toMatchObject({ versions: [] })
    expect(await contentOf('e')).toBe('e')
  })

  it('earlier versions of one file are opened from its row', async () => {
    for (const content of ['one', 'second']) await put('a.txt', content)
    await put('b.txt', 'x')
    await remove(service, { user, name: 'b.txt' })
    const page = await visitAs({ browser: browser(), service, user })
    const button = page.getByRole('button', { name: 'Earlier versions of a.txt' })
    await button.click({ force: true })
    await page.getByRole('heading', { name: 'Earlier versions of “a.txt”' }).waitFor()
    await row(page, '3 bytes').waitFor()
    expect(await listed(page)).toHaveLength(1)
    expect(await page.getByRole('button', { name: 'Delete all for good' }).count()).toBe(0)
    await page.getByRole('button', { name: 'All files' }).click()
    await expect.poll(() => focused(page)).toBe('Deleted and earlier versions')
  })

  it('show what another device replaces and restores, without being asked for again', async () => {
    const page = await openHistory()
    await page.getByText('Nothing to restore').waitFor()
    await put('a.txt', 'one')
    await put('a.txt', 'second')
    await row(page, '3 bytes').waitFor()
    await remove(service, { user, name: 'a.txt' })
    const deleted = row(page, '6 bytes')
    await deleted.waitFor()
    const { versions } = jsonOf(await ask(service, { user, path: '/users/me/history' })) as {
      readonly versions: readonly { readonly version: string }[]
    }
    const path = `/users/me/history/${versions[0]?.version ?? ''}/restore`
    await ask(service, { user, method: 'POST', path })
    await deleted.waitFor({ state: 'detached' })
    expect(await listed(page)).toHaveLength(1)
  })

  it('come page by page', async () => {
    user = await service.createUser(1_000_000)
    for (let at = 0; at <= 130; at += 1) await put('a.txt', 'x'.repeat(at))
    const page = await openHistory()
    await expect.poll(() => listed(page)).toHaveLength(100)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => listed(page)).toHaveLength(130)
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    await put('a.txt', 'x')
    await expect.poll(() => listed(page)).toHaveLength(131)
  })
})

/** The text of each version, from the top. */
const listed = (page: Page): Promise<readonly string[]> =>
  page.getByRole('main').getByRole('listitem').allInnerTexts()

const row = (page: Page, text: string) =>
  page.getByRole('main').getByRole('listitem').filter({ hasText: text })

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`,
  )
