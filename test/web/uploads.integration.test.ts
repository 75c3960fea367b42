import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { download, MIB, upload, usageOf } from '../http/fixture.ts'
import { startBrowser } from '../support/http/browser.ts'
import { createFolder } from '../support/servers/local-server.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import {
  describeInBrowser,
  drag,
  drop,
  effectsRun,
  hold,
  names,
  openWithPage,
  pick,
  secretOf,
  slowDown,
  uploaded,
  visitAs,
} from './fixture.ts'

describeInBrowser('uploads', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ tokenCacheMs: 0 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(64 * MIB)
  })

  const open = (at: { readonly url: string } = service): Promise<Page> =>
    visitAs({ browser: browser(), service: at, user })

  const contentOf = async (name: string): Promise<string> =>
    (await download(service, { user, name })).body.toString()

  it('take many files at once, also empty ones, and show them', async () => {
    const page = await open()
    const files = Array.from({ length: 20 }, (_, at) => ({
      path: `file ${String(at).padStart(2, '0')}.txt`,
      content: 'x'.repeat(at),
    }))
    await pick(page, files)
    await uploaded(page, 20)
    expect(await names(page)).toEqual(files.map(({ path }) => path))
    for (const { path, content } of files) expect(await contentOf(path)).toBe(content)
    await page.getByText('190 bytes of 64 MiB used').waitFor()
    expect(await page.getByRole('status').allTextContents()).toContain('20 files uploaded')
  })

  it('take a folder that is dropped, and one that is dropped while it is open', async () => {
    const page = await open()
    const folder = await createFolder('drop')
    onTestFinished(() => folder.remove())
    await mkdir(join(folder.path, 'Trip', 'Day 1'), { recursive: true })
    await writeFile(join(folder.path, 'Trip', 'plan.txt'), 'plan')
    await writeFile(join(folder.path, 'Trip', 'Day 1', 'dawn.jpg'), 'dawn')
    await writeFile(join(folder.path, 'alone.txt'), 'alone')
    await drop(page, [join(folder.path, 'Trip'), join(folder.path, 'alone.txt')])
    await uploaded(page, 3)
    expect(await names(page)).toEqual(['Trip', 'alone.txt'])
    expect(await contentOf('Trip/Day 1/dawn.jpg')).toBe('dawn')
    await page.getByRole('button', { name: 'Folder Trip' }).click()
    await expect.poll(() => names(page)).toEqual(['Day 1', 'plan.txt'])
    const detach = await drag(page, [join(folder.path, 'Trip', 'Day 1')])
    await page.getByText('Drop to upload to “Trip”').waitFor()
    await detach()
    await page.getByRole('button', { name: 'Files of the folder Day 1' }).click()
    await page.getByText('already exists').waitFor()
    await pick(page, [{ path: 'map.txt', content: 'map' }])
    await expect.poll(() => names(page)).toEqual(['Day 1', 'map.txt', 'plan.txt'])
    expect(await contentOf('Trip/map.txt')).toBe('map')
  })

  it('take nothing that is dropped while nobody is signed in', async () => {
    const page = await open()
    const folder = await createFolder('drop')
    onTestFinished(() => folder.remove())
    await writeFile(join(folder.path, 'alone.txt'), 'alone')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const detach = await hold(page, [join(folder.path, 'alone.txt')])
    await detach()
    await page.getByLabel('Access token', { exact: true }).fill(secretOf(user))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Nothing here yet').waitFor()
    await pick(page, [{ path: 'later.txt', content: 'x' }])
    await uploaded(page, 1)
    expect(await names(page)).toEqual(['later.txt'])
  })

  it('take a folder that is chosen', async () => {
    const page = await open()
    const folder = await createFolder('pick')
    onTestFinished(() => folder.remove())
    await mkdir(join(folder.path, 'Papers'))
    await writeFile(join(folder.path, 'Papers', 'a.txt'), 'a')
    await page.locator('[data-picker=folder]').setInputFiles(join(folder.path, 'Papers'))
    await uploaded(page, 1)
    expect(await names(page)).toEqual(['Papers'])
    expect(await contentOf('Papers/a.txt')).toBe('a')
  })

  it('take a picture that is pasted, and nothing that is pasted into a field', async () => {
    const page = await open()
    await effectsRun(page)
    await page.evaluate(PASTE('document.body', 'image.png'))
    await uploaded(page, 1)
    expect((await names(page))[0]).toMatch(/^Pasted \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png$/)
    await page.evaluate(PASTE(`document.querySelector('[type=search]')`, 'second.png'))
    await page.evaluate(PASTE('document.body', 'third.png'))
    await expect.poll(() => names(page)).toHaveLength(2)
    await uploaded(page, 1)
    expect(await page.getByText('second.png').count()).toBe(0)
  })

  it('show how far they are and how long it takes, and can be cancelled', async () => {
    const page = await open()
    await slowDown(page, MIB / 2)
    await pick(page, [{ path: 'large.bin', content: Buffer.alloc(10 * MIB) }])
    await page.getByText(/ MiB of 10 MiB/).waitFor()
    await page.getByText(/iB\/s, \d+ (s|min) left/).waitFor()
    const bar = page.getByRole('progressbar', { name: 'Progress of all uploads' })
    await expect
      .poll(async () => Number(await bar.getAttribute('aria-valuenow')))
      .toBeGreaterThan(5)
    await expect.poll(async () => (await usageOf(service, user)).reserved).toBe(10 * MIB)
    await page.getByText('10 MiB', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Cancel large.bin' }).click()
    await expect.poll(async () => (await usageOf(service, user)).reserved).toBe(0)
    expect((await download(service, { user, name: 'large.bin' })).status).toBe(404)
    expect(await page.getByRole('region', { name: 'Uploads' }).count()).toBe(0)
  })

  it('ask before they replace a file, or find another name', async () => {
    for (const name of ['a.txt', 'b.txt', 'c.txt', 'c (2).txt']) {
      await upload(service, { user, name, content: 'old' })
    }
    const page = await open()
    await pick(
      page,
      ['a.txt', 'b.txt', 'c.txt'].map((path) => ({ path, content: 'new' })),
    )
    await page.getByRole('heading', { name: '3 files need a decision' }).waitFor()
    for (const name of ['a.txt', 'b.txt', 'c.txt']) expect(await contentOf(name)).toBe('old')
    const row = (name: string) =>
      page.getByRole('region', { name: 'Uploads' }).getByRole('listitem').filter({ hasText: name })
    await row('a.txt').getByRole('button', { name: 'Replace' }).click()
    await row('b.txt').getByRole('button', { name: 'Skip' }).click()
    await row('c.txt').getByRole('button', { name: 'Keep both' }).click()
    await uploaded(page, 2)
    expect(await contentOf('a.txt')).toBe('new')
    expect(await contentOf('b.txt')).toBe('old')
    expect(await contentOf('c.txt')).toBe('old')
    expect(await contentOf('c (3).txt')).toBe('new')
  })

  it('say how much is missing when the repository is full, and go on once there is room', async () => {
    user = await service.createUser(1000)
    await upload(service, { user, name: 'old.bin', content: 'x'.repeat(800) })
    const page = await open()
    await pick(page, [
      { path: 'one.bin', content: 'x'.repeat(500) },
      { path: 'two.bin', content: 'x'.repeat(600) },
      { path: 'small.bin', content: 'x'.repeat(100) },
    ])
    await page
      .getByText('Not enough space: 400 bytes more needed. Up to 100 bytes would fit.')
      .waitFor()
    await page.getByText('Not enough space for 2 files: 1000 bytes more needed.').waitFor()
    // Nothing is to be decided about them.
    await page.getByRole('heading', { name: '2 files were not uploaded' }).waitFor()
    await expect.poll(() => names(page)).toEqual(['old.bin', 'small.bin'])
    await page.getByRole('button', { name: 'Delete old.bin' }).click({ force: true })
    await expect
      .poll(async () => (await usageOf(service, user)).used, { timeout: 15_000 })
      .toBe(100)
    await expect.poll(() => page.getByText('There is enough space now.').count()).toBe(2)
    await page.getByText('Not enough space for all 2 files: 200 bytes more needed.').waitFor()
    await page.getByRole('button', { name: 'Retry one.bin' }).click()
    await expect.poll(() => names(page)).toEqual(['one.bin', 'small.bin'])
    await page.getByRole('button', { name: 'Retry two.bin' }).click()
    await page.getByText('Not enough space: 200 bytes more').waitFor()
  })

  it('say the same when it is the service that finds out', async () => {
    user = await service.createUser(2 * MIB)
    const page = await open()
    await slowDown(page, MIB / 4)
    await pick(page, [{ path: 'a.bin', content: Buffer.alloc(MIB) }])
    await page.getByText(/of 1 MiB/).waitFor()
    await service.setCapacity(user, MIB / 2)
    await slowDown(page, -1)
    await page.getByText('Not enough space: 512 KiB more needed.').waitFor({ timeout: 60_000 })
    expect((await usageOf(service, user)).used).toBe(0)
  })

  it('work over plain HTTP on a local network, where a page gets less than on a loopback host', async () => {
    const lan = await startBrowser('--host-resolver-rules=MAP lan.test 127.0.0.1')
    onTestFinished(() => lan.close())
    const url = `http://lan.test:${service.port}`
    const page = await visitAs({ browser: lan, service: { url }, user })
    expect(await page.evaluate('isSecureContext')).toBe(false)
    await pick(page, [{ path: 'a.txt', content: 'hello' }])
    await uploaded(page, 1)
    expect(await contentOf('a.txt')).toBe('hello')
  })

  it('appear in another tab as they end', async () => {
    const page = await open()
    const other = await page.context().newPage()
    await other.goto(service.url)
    await other.getByText('Nothing here yet').waitFor()
    await pick(page, [{ path: 'a.txt', content: 'hello' }])
    await expect.poll(() => names(other)).toEqual(['a.txt'])
    await other.getByText('5 bytes of 64 MiB used').waitFor()
  })

  it('say of what the service refuses why', async () => {
    const page = await open()
    await pick(page, [{ path: `${'n'.repeat(300)}.txt`, content: 'x' }])
    await page.getByText('This name is too long').waitFor()
    expect((await usageOf(service, user)).fileCount).toBe(0)
  })
})

const PASTE = (target: string, name: string) => `{
  const clipboardData = new DataTransfer()
  clipboardData.items.add(new File(['picture'], '${name}', { type: 'image/png' }))
  ${target}.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
}`
