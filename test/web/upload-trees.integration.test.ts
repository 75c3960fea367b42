import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { download, MIB, upload, usageOf } from '../http/fixture.ts'
import { createFolder } from '../support/servers/local-server.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import {
  describeInBrowser,
  drop,
  names,
  openWithPage,
  pick,
  slowDown,
  uploaded,
  visit,
} from './fixture.ts'
import { expectSound, smallTargets, TOUCH } from './looks.ts'

describeInBrowser('folders that are uploaded', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(64 * MIB)
  })

  async function open(options = {}): Promise<Page> {
    const page = await visit({ browser: browser(), service, user, ...options })
    await page.locator('.empty strong, [data-index="0"]').first().waitFor()
    return page
  }

  /** A folder on the disk, with these files and, for names that end in a slash, empty folders. */
  async function folderOf(name: string, contents: Readonly<Record<string, string>>) {
    const place = await createFolder('tree')
    onTestFinished(() => place.remove())
    for (const [path, content] of Object.entries(contents)) {
      const whole = join(place.path, name, path)
      await mkdir(path.endsWith('/') ? whole : join(whole, '..'), { recursive: true })
      if (!path.endsWith('/')) await writeFile(whole, content)
    }
    return join(place.path, name)
  }

  const contentOf = async (name: string) => {
    const { status, body } = await download(service, { user, name })
    return status === 200 ? body.toString() : status
  }

  it('are one line for 300 files, which opens, and are stored with their empty folders', async () => {
    const files = Array.from(
      { length: 299 },
      (_, at) => [`Day ${at % 3}/${at}.txt`, `${at}`] as const,
    )
    const trip = await folderOf('Trip', { ...Object.fromEntries<string>(files), 'Empty/': '' })
    const page = await open()
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.method()))
    await drop(page, [trip])
    const rows = page.locator('.upload')
    await rows.getByText(/\d+ of 300 files, /).waitFor()
    expect(await rows.count()).toBe(1)
    await uploaded(page, 300)
    // One for each file, and some for the list and the figures.
    expect(requests.filter((method) => method === 'PUT')).toHaveLength(300)
    expect(requests.length).toBeLessThan(400)
    expect(await contentOf('Trip/Day 1/298.txt')).toBe('298')
    expect(await contentOf('Trip/Empty/')).toBe('')
    expect(await names(page)).toEqual(['Trip'])
    await page.getByRole('button', { name: 'Show all uploads' }).click()
    await rows.getByText('300 of 300 files, 787 bytes of 787 bytes').waitFor()
    await expectSound(page)
    const toggle = page.getByRole('button', { name: 'Files of the folder Trip' })
    await toggle.press('Enter')
    await rows.getByText('Day 0/0.txt', { exact: true }).waitFor()
    expect(await toggle.getAttribute('aria-expanded')).toBe('true')
    expect(await rows.count()).toBeLessThan(40)
    await expectSound(page)
    await toggle.press('Enter')
    await expect.poll(() => rows.count()).toBe(1)
  })

  it('say what was not uploaded, and try all of it again', async () => {
    user = await service.createUser(1000)
    const trip = await folderOf('Trip', {
      'a.txt': 'x'.repeat(700),
      'b/c.txt': 'x'.repeat(600),
      d: 'd',
    })
    const page = await open(TOUCH)
    await page.locator('[data-picker=folder]').setInputFiles(trip)
    const row = page.locator('.upload').first()
    await row.getByText('1 not uploaded').waitFor()
    await row.getByText('2 of 3 files').waitFor()
    await expectSound(page)
    expect(await smallTargets(page)).toEqual([])
    await service.setCapacity(user, 5000)
    await row.getByRole('button', { name: 'Retry Trip' }).click()
    await uploaded(page, 3)
    expect(await contentOf('Trip/b/c.txt')).toBe('x'.repeat(600))
  })

  it('are cancelled as a whole, and nothing else is', async () => {
    const content = 'x'.repeat(2 * MIB)
    const trip = await folderOf('Trip', { a: content, b: content, c: content, d: content })
    const page = await open()
    await slowDown(page, MIB / 2)
    await page.locator('[data-picker=folder]').setInputFiles(trip)
    await pick(page, [{ path: 'alone.txt', content: 'alone' }])
    const bar = page.getByRole('progressbar', { name: 'Progress of the folder Trip' })
    await expect
      .poll(async () => Number(await bar.getAttribute('aria-valuenow')))
      .toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Cancel Trip' }).click()
    await slowDown(page, -1)
    await uploaded(page, 1)
    expect(await names(page)).toEqual(['alone.txt'])
    await expect.poll(async () => (await usageOf(service, user)).reserved).toBe(0)
  })

  it('ask once before they replace files, and keep folders and files apart', async () => {
    for (const name of ['Trip/a', 'Trip/b', 'Trip/folder/x', 'Trip/file', 'Trip/Empty/']) {
      await upload(service, { user, name, content: name.endsWith('/') ? '' : 'old' })
    }
    const trip = await folderOf('Trip', {
      a: 'new',
      b: 'new',
      folder: 'a file now',
      'file/below': 'a folder now',
      'Empty/': '',
    })
    const page = await open()
    await drop(page, [trip])
    const row = page.locator('.upload').first()
    await row.getByText('2 need a decision').waitFor()
    await row.getByText('2 not uploaded').waitFor()
    await row.getByText('1 of 5 files').waitFor()
    await page.getByRole('button', { name: 'Files of the folder Trip' }).click()
    await page.getByText('There is a folder with this name.').waitFor()
    await page.getByText('“Trip/file” is a file').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Replace all 2' }).click()
    await row.getByText('3 of 5 files').waitFor()
    expect(await contentOf('Trip/a')).toBe('new')
    expect(await contentOf('Trip/folder')).toBe(404)
    expect(await contentOf('Trip/file/below')).toBe(404)
  })

  it('have room on a phone for what a file of them asks', async () => {
    await upload(service, { user, name: 'Trip/a', content: 'old' })
    const trip = await folderOf('Trip', { a: 'new' })
    const page = await open({ ...TOUCH, locale: 'de' })
    await page.locator('[data-picker=folder]').setInputFiles(trip)
    await page.locator('.upload-tree').tap()
    await page.locator('.upload-below .button-small').first().waitFor()
    expect(await page.evaluate(BEYOND)).toEqual([])
    expect(await smallTargets(page)).toEqual([])
  })
})

/** What is partly above or below its row. */
const BEYOND = `[...document.querySelectorAll('.upload')].flatMap((row) => {
  const { top, bottom } = row.getBoundingClientRect()
  const parts = [...row.querySelectorAll('.upload-words > *, .button-small')]
  return parts.filter((part) => {
    const box = part.getBoundingClientRect()
    return box.top < top || box.bottom > bottom
  }).map(({ outerHTML }) => outerHTML)
})`
