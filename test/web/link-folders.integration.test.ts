import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { download, MIB, secretOf, upload } from '../http/fixture.ts'
import { createLink } from '../http/links/link-requests.ts'
import { createFolder } from '../support/servers/local-server.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, hold, openWithPage, visit } from './fixture.ts'
import { expectSound, TOUCH } from './looks.ts'

const FILES = [
  'Italy/Rome/a #1.jpg',
  'Italy/Rome/Forum/b.jpg',
  'Italy/notes.md',
  'Italy/Empty/',
  'Italy/plan 10.txt',
  'Italy/plan 9.txt',
]

describeInBrowser('folders of a link', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(64 * MIB)
  })

  const make = (terms: { readonly kind: string; readonly [term: string]: unknown }) =>
    createLink(service, { token: secretOf(user), ...terms })
  const put = (name: string) =>
    upload(service, { user, name, content: name.endsWith('/') ? '' : name })

  async function openLink(terms: { readonly kind: string; readonly [term: string]: unknown }) {
    const { secret } = await make(terms)
    return visit({ browser: browser(), service, path: `/links/${secret}`, ...TOUCH })
  }

  it('open and lead back, with names as they are', async () => {
    for (const name of FILES) await put(name)
    const page = await openLink({ kind: 'download', prefix: 'Italy/' })
    await expect
      .poll(() => shown(page))
      .toEqual(['Empty', 'Rome', 'notes.md', 'plan 9.txt', 'plan 10.txt'])
    await page.getByText('2 files, 41 bytes').waitFor()
    await expectSound(page)
    const archiving = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download all (' }).click()
    const archive = await readFile(await (await archiving).path())
    expect(archive.includes('Italy/Rome/Forum/b.jpg')).toBe(true)
    await folder(page, 'Rome').click()
    await expect.poll(() => shown(page)).toEqual(['Forum', 'a #1.jpg'])
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toBe('Rome')
    await expectSound(page)
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download a #1.jpg' }).click()
    expect((await downloading).suggestedFilename()).toBe('a #1.jpg')
    await folder(page, 'Forum').click()
    await expect.poll(() => shown(page)).toEqual(['b.jpg'])
    await page.reload()
    await expect.poll(() => shown(page)).toEqual(['b.jpg'])
    expect(await page.locator('.crumb').allTextContents()).toEqual(['All files', 'Rome', 'Forum'])
    await page.goBack()
    await expect.poll(() => shown(page)).toEqual(['Forum', 'a #1.jpg'])
    await page.getByRole('button', { name: 'All files' }).click()
    await folder(page, 'Empty').click()
    await page.getByText('There are no files here now.').waitFor()
    expect(new URL(page.url()).hash).toBe('#folder=Empty%2F')
  })

  it('open at once with ten thousand files, and show more at their end', async () => {
    await put('a')
    const { secret } = await make({ kind: 'download', prefix: '' })
    const all = [
      ...Array.from({ length: 1_000 }, (_, at) => `folder ${at}/last.txt`),
      ...Array.from({ length: 9_000 }, (_, at) => `many/${at}.txt`),
    ]
    // The service sends the same for files that exist.
    const prepare = (page: Page) =>
      page.route(/limit=1000/, async (route) => {
        const query = new URL(route.request().url()).searchParams
        const from = Number(query.get('cursor') ?? 0)
        const response = await route.fetch({ url: `${service.url}/links/${secret}` })
        const files = all.slice(from, from + 1_000).map((name) => ({ name, size: 7 }))
        const next_cursor = from + 1_000 < all.length ? String(from + 1_000) : null
        await route.fulfill({
          json: { ...((await response.json()) as object), files, next_cursor },
        })
      })
    const page = await visit({ browser: browser(), service, path: `/links/${secret}`, prepare })
    await page.getByRole('link', { name: /^Download all \(68/ }).waitFor()
    await expect.poll(async () => (await shown(page)).length).toBeLessThan(700)
    expect((await shown(page))[0]).toBe('folder 0')
    await page.goto(`${page.url()}#folder=many%2F`)
    await expect.poll(async () => (await shown(page))[0]).toBe('0.txt')
    const scroll = async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      return page.locator('.visit-file').count()
    }
    await expect.poll(scroll, { timeout: 30_000, interval: 20 }).toBeGreaterThan(1_500)
    await page.getByRole('button', { name: 'All files' }).press('Enter')
    await expect.poll(async () => (await shown(page))[0]).toBe('folder 0')
  })

  it('are taken by a drop link: one line for each, that opens, and says what was not sent', async () => {
    await put('in/Trip/Day 1/dawn.jpg')
    await put('in/Trip/Empty/')
    const page = await openLink({ kind: 'drop', prefix: 'in/' })
    const place = await createFolder('drop')
    onTestFinished(() => place.remove())
    const trip = join(place.path, 'Trip')
    await mkdir(join(trip, 'Day 1'), { recursive: true })
    await mkdir(join(trip, 'Empty'))
    await mkdir(join(trip, 'New'))
    await writeFile(join(trip, 'Day 1', 'dawn.jpg'), 'dawn')
    await writeFile(join(trip, 'plan.txt'), 'plan')
    await writeFile(join(place.path, 'alone.txt'), 'alone')
    const dropped = [trip, join(place.path, 'alone.txt')]
    // Beside the field, where the browser would open them.
    const detach = await hold(page, dropped, page.getByRole('heading').first())
    await detach()
    await page.getByText('4 files sent.').waitFor()
    const tree = page.getByRole('listitem').filter({ has: folder(page, 'Trip') })
    await tree.getByText('3 of 4 files, 4 bytes of 8 bytes').waitFor()
    await tree.getByText('1 not sent').waitFor()
    await expectSound(page)
    await folder(page, 'Trip').click()
    await tree.getByText('already sent').waitFor()
    await expectSound(page)
    expect((await download(service, { user, name: 'in/Trip/plan.txt' })).body.toString()).toBe(
      'plan',
    )
    expect((await download(service, { user, name: 'in/Trip/New/' })).status).toBe(200)
    expect((await download(service, { user, name: 'in/alone.txt' })).status).toBe(200)
    await page.locator('[data-picker=folder]').setInputFiles(join(trip, 'Day 1'))
    await page
      .getByRole('listitem')
      .filter({ has: folder(page, 'Day 1') })
      .waitFor()
    await page.getByText('5 files sent.').waitFor()
    expect((await download(service, { user, name: 'in/Day 1/dawn.jpg' })).status).toBe(200)
  })
})

/** Names in the open folder, from the top. */
async function shown(page: Page): Promise<readonly string[]> {
  return page.locator('.visit-name bdi').allTextContents()
}

function folder(page: Page, name: string) {
  return page.locator('.visit-folder').filter({ hasText: name })
}
