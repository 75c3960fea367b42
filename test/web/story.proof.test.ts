import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { startDemo } from '../support/service/demo.ts'
import { buildPage } from '../support/http/page.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { describeInBrowser, drag, names, openPage, pick, slowDown, uploaded } from './fixture.ts'
import { actOn, NARROW, WIDE } from './looks.ts'

const MIB = 2 ** 20

/** What is dropped, by the MiB of each. */
const TRIP = {
  'Italy/beach at dawn.jpg': 0.75,
  'Italy/harbour.mov': 3.5,
  'Italy/notes.md': 0.001,
  'Italy/Rome/Forum Romanum, from the Palatine Hill, an hour before sunset.jpg': 1.25,
  'Italy/Rome/street musicians.flac': 2,
} as const

const TRIP_NAMES = ['Rome', 'beach at dawn.jpg', 'harbour.mov', 'notes.md']

const HARBOUR = 'Italy/harbour.mov'

const PHONE = { viewport: NARROW, hasTouch: true, isMobile: true }

describeInBrowser('the way of a newcomer', (browser) => {
  beforeAll(async () => {
    await buildPage()
  })

  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())

  it.each<[string, BrowserContextOptions]>([
    ['light', { colorScheme: 'light', viewport: WIDE }],
    ['dark', { colorScheme: 'dark', viewport: WIDE }],
    ['phone-light', { colorScheme: 'light', ...PHONE }],
    ['phone-dark', { colorScheme: 'dark', ...PHONE }],
  ])('from the printed link to a full repository and back, %s', async (_look, options) => {
    const environment = { BASE_CAPACITY: '15MiB' }
    const demo = await startDemo({ environment, opened })
    const { link = '' } = /browser: (?<link>\S+)/.exec(demo.output())?.groups ?? {}
    const path = link.slice(demo.url.length)
    const still = { reducedMotion: 'reduce' } as const
    const visited = await openPage({
      browser: browser(),
      service: demo,
      path,
      ...options,
      ...still,
    })
    const { page } = visited
    opened.defer(() => page.context().close())
    const panel = page.getByRole('region', { name: 'Uploads' })
    const capacity = page.getByRole('complementary', { name: 'Capacity' })

    await page.getByText('Nothing here yet').waitFor()
    await capacity.getByText('0 bytes of 15 MiB used').waitFor()
    visited.expectClean()

    await slowDown(page, 2 * MIB)
    const detach = await drag(page, [await folderOf('Italy', TRIP)])
    visited.expectClean()
    await detach()
    await expectBars(page)
    visited.expectClean()
    await uploaded(page, 5)
    await expect.poll(() => names(page)).toEqual(['Italy'])
    await page.getByRole('button', { name: 'Folder Italy', exact: true }).click()
    await expect.poll(() => names(page)).toEqual(TRIP_NAMES)
    await capacity.getByText('7.5 MiB of 15 MiB used').waitFor()
    visited.expectClean()

    const archive = { path: 'archive.zip', content: Buffer.alloc(Math.floor(6.2 * MIB)) }
    // So slow that it is still under way when the next one asks for room.
    await slowDown(page, MIB / 8)
    await pick(page, [archive])
    // Its room is taken before the next one asks for some.
    await capacity.getByRole('img', { name: /[1-9][.0-9]* MiB being uploaded/ }).waitFor()
    await pick(page, [{ path: 'wedding.mov', content: Buffer.alloc(3 * MIB) }])
    await panel
      .getByText('Not enough space: 1.8 MiB more needed. Up to 1.2 MiB would fit.')
      .waitFor()
    await slowDown(page, 4 * MIB)
    await page.getByRole('heading', { name: '1 file was not uploaded' }).waitFor()
    await capacity.getByText('13 MiB of 15 MiB used').waitFor()
    await capacity.getByText('Getting full.').waitFor()
    visited.expectClean()

    await panel.getByRole('button', { name: 'Show less' }).click()
    await actOn(page, { action: 'Delete', name: HARBOUR })
    await page.getByText('“harbour.mov” was deleted.').waitFor()
    expect(await names(page)).not.toContain('harbour.mov')
    visited.expectClean()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => names(page)).toContain('harbour.mov')
    visited.expectClean()

    await actOn(page, { action: 'Delete', name: HARBOUR })
    await capacity.getByText('10 MiB of 15 MiB used').waitFor()
    expect(await names(page)).not.toContain('harbour.mov')
    await panel.getByRole('button', { name: 'Show all uploads' }).click()
    await panel.getByText('There is enough space now.').waitFor()
    visited.expectClean()
    await panel.getByRole('button', { name: 'Retry Italy/wedding.mov' }).click()
    await uploaded(page, 2)
    await expect.poll(() => names(page)).toContain('wedding.mov')
    await capacity.getByText('13 MiB of 15 MiB used').waitFor()
    visited.expectClean()
  })

  /** Makes a folder on the disk, and returns where it is. */
  async function folderOf(name: string, files: Readonly<Record<string, number>>): Promise<string> {
    const root = await temporaryFolder(opened)
    for (const [path, size] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await using file = await open(join(root, path), 'w')
      await file.truncate(Math.floor(size * MIB))
    }
    return join(root, name)
  }
})

/** Waits until the panel shows how far all of it is, how long it takes, and how far each file is. */
async function expectBars(page: Page): Promise<void> {
  await page.getByRole('heading', { name: /^Uploading [1-5] of 5$/ }).waitFor()
  await page.getByText(/iB\/s, \d+ s left/).waitFor()
  const bar = page.getByRole('progressbar', { name: 'Progress of all uploads' })
  const percent = async () => Number(await bar.getAttribute('aria-valuenow'))
  await expect.poll(percent).toBeGreaterThan(25)
  expect(await percent()).toBeLessThan(90)
  await page.getByRole('button', { name: 'Files of the folder Italy' }).click()
  await page.getByText(/ of 3\.5 MiB$/).waitFor()
  expect(await page.locator('.bar-thin').count()).toBeGreaterThan(1)
  // The list covers the files of a phone while it has the focus.
  await page.getByRole('button', { name: 'Show less' }).click()
}
