import { readFile } from 'node:fs/promises'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { change, remove } from '../http/file-requests.ts'
import { download, upload } from '../http/fixture.ts'
import { startHttpProxy } from '../support/faults/http-proxy.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import {
  describeInBrowser,
  names,
  openWithPage,
  pick,
  seenRequests,
  uploaded,
  visitAs,
} from './fixture.ts'

const HOSTILE = '<img src=x onerror=alert(1)>.html'

describeInBrowser('the files', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(100_000)
    for (const [name, size] of [
      ['alpha.txt', 300],
      ['beta.txt', 100],
      ['gamma.jpg', 200],
    ] as const) {
      await upload(service, { user, name, content: 'x'.repeat(size) })
    }
  })

  async function open() {
    const page = await visitAs({ browser: browser(), service, user })
    await page.getByText('alpha.txt').waitFor()
    return page
  }

  /** A page that shows the last 500 of 3,000 files, from `file 3500` on, with the focus on the last one. */
  async function openAtEnd() {
    const answer = async (route: Route) => {
      const { searchParams } = new URL(route.request().url())
      const from = Number(searchParams.get('cursor') ?? 0)
      const time = '2026-01-01T00:00:00Z'
      const file = { size: 1, etag: 'e', visibility: 'private', created_at: time, updated_at: time }
      const files = Array.from({ length: 500 }, (_, at) => {
        const number = searchParams.get('order') === 'name' ? 1000 + from + at : 3999 - from - at
        return { ...file, name: `file ${number}` }
      })
      const next_cursor = from + 500 < 3_000 ? String(from + 500) : null
      await route.fulfill({ json: { files, next_cursor } }).catch(() => undefined)
    }
    const prepare = (tab: Page) => tab.route('**/users/me/repo?*', answer)
    const page = await visitAs({ browser: browser(), service, user, prepare })
    await page.getByRole('row', { name: 'file 1000' }).focus()
    // After two frames, as the rows are moved and focused again in one when others were put before them.
    const frames = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`
    const number = `/file (\\d{4})/.exec(document.activeElement.textContent)?.[1]`
    const focused = async () => Number(await page.evaluate(`${frames}.then(() => ${number})`))
    // Only once more is known to be there than is sorted here.
    const end = async () => (await page.keyboard.press('End'), focused())
    await expect.poll(end).toBe(3999)
    const inRows = async (pixels: string) => Number(await page.evaluate(pixels)) / 52
    const rows = () => inRows(`document.querySelector('.rows-all').clientHeight`)
    await expect.poll(rows).toBe(500)
    return { page, rows, focused, inRows }
  }

  const statusOf = async (name: string): Promise<number> =>
    (await download(service, { user, name })).status

  it('are sorted by what is clicked, once up and once down', async () => {
    const page = await open()
    expect(await names(page)).toEqual(['alpha.txt', 'beta.txt', 'gamma.jpg'])
    await page.getByRole('button', { name: 'Size' }).click()
    await expect.poll(() => names(page)).toEqual(['beta.txt', 'gamma.jpg', 'alpha.txt'])
    await page.getByRole('button', { name: 'Size' }).click()
    await expect.poll(() => names(page)).toEqual(['alpha.txt', 'gamma.jpg', 'beta.txt'])
    expect(await page.getByRole('columnheader', { name: 'Size' }).getAttribute('aria-sort')).toBe(
      'descending',
    )
    await pick(page, [{ path: 'middle.txt', content: 'x'.repeat(250) }])
    const withMiddle = ['alpha.txt', 'middle.txt', 'gamma.jpg', 'beta.txt']
    await expect.poll(() => names(page)).toEqual(withMiddle)
    await page.getByLabel('Sort by').selectOption('Newest first')
    await expect
      .poll(() => names(page))
      .toEqual(['middle.txt', 'gamma.jpg', 'beta.txt', 'alpha.txt'])
  })

  it('keep the focus where the last of them was deleted, from where keys lead on', async () => {
    const page = await open()
    await page.locator('.rows [role=row]', { hasText: 'gamma.jpg' }).focus()
    await page.keyboard.press('Delete')
    const focused = () => page.evaluate(`document.activeElement.getAttribute('aria-rowindex')`)
    await expect.poll(focused).toBe('3')
    await page.keyboard.press('ArrowUp')
    await expect.poll(focused).toBe('2')
  })

  it('keep the focus when they are scrolled away under it, so that no key reaches another file', async () => {
    const more = Array.from({ length: 150 }, (_, at) => `file ${at + 100}.txt`)
    for (const name of more) await upload(service, { user, name, content: '' })
    const page = await open()
    await page.getByRole('row', { name: 'alpha.txt' }).focus()
    await page.mouse.move(400, 400)
    const scrolled = async () =>
      Number(await page.evaluate(`document.querySelector('.rows').scrollTop`))
    const isOnList = () => page.evaluate(`document.activeElement.matches('.rows-all')`)
    for (let turn = 1; turn < 5; turn += 1) {
      const before = await scrolled()
      const scroll = async () => {
        // At the end of the loaded files the list moves only once the next ones have come.
        await page.mouse.wheel(0, 1200)
        return await scrolled()
      }
      await expect.poll(scroll).toBeGreaterThan(before)
      // Until the list has moved so far that the file is gone from it, the key is for that file.
      await expect.poll(isOnList).toBe(true)
      await page.keyboard.press('Delete')
    }
    // A row that gets the focus while the list still moves can be scrolled away, too.
    let last = -1
    const isAtRest = async () => last === (last = await scrolled())
    await expect.poll(isAtRest, { interval: 300 }).toBe(true)
    await page.keyboard.press('Tab')
    const focused = () => page.evaluate(`document.activeElement.closest('[role=row]')?.textContent`)
    await expect.poll(focused).toContain('file ')
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  })

  it('are read on to the end also when they are sorted while the next ones are on their way', async () => {
    const asked: string[] = []
    const isSorted = Promise.withResolvers<void>()
    const answer = async (route: Route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor')
      asked.push(`${cursor}`)
      if (asked.length === 2) await isSorted.promise
      const time = '2026-01-01T00:00:00Z'
      const files = Array.from({ length: 500 }, (_, at) => ({
        name: `${cursor} ${at}`,
        size: at,
        etag: String(at),
        visibility: 'private',
        created_at: time,
        updated_at: time,
      }))
      const next_cursor = cursor === null ? 'next' : null
      await route.fulfill({ json: { files, next_cursor } }).catch(() => undefined)
    }
    const prepare = (tab: Page) => tab.route('**/users/me/repo?*', answer)
    const page = await visitAs({ browser: browser(), service, user, prepare })
    await page.getByText('null 1', { exact: true }).waitFor()
    await expect.poll(() => asked).toEqual(['null', 'next'])
    await page.getByLabel('Sort by').selectOption('Smallest first')
    await expect.poll(() => asked.slice(2)).toEqual(['null', 'next'])
    isSorted.resolve()
    const first = async () => (await names(page)).slice(0, 3)
    await expect.poll(first).toEqual(['next 0', 'null 0', 'next 1'])
  })

  it('stay where they are, and keep the focus, when those before them are read from the end on', async () => {
    const { page, rows, focused, inRows } = await openAtEnd()
    const places = [3_731]
    await page.evaluate(`document.querySelector('.rows').scrollTop = 230 * 52`)
    await page.getByRole('row', { name: `file ${places[0]}` }).focus()
    for (let turn = 0; turn < 5; turn += 1) {
      await page.keyboard.press('PageUp')
      await expect.poll(focused).toBeLessThan(places.at(-1) ?? 0)
      await page.locator('[role=grid][aria-busy=false]').waitFor()
      places.push(await focused())
    }
    expect(await rows()).toBe(1_000)
    const steps = places.slice(1).map((place, at) => (places[at] ?? 0) - place)
    expect(new Set(steps).size).toBe(1)
    // The row with the focus is the topmost one.
    expect(3_000 + (await inRows(`document.querySelector('.rows').scrollTop`))).toBe(places.at(-1))
  })

  it('stay where they are when a key comes before the browser tells of the scrolling', async () => {
    const { page, rows, focused, inRows } = await openAtEnd()
    // With two rows less, those before them would be read.
    await page.evaluate(`document.querySelector('.rows').scrollTop = 214 * 52`)
    await page.getByRole('row', { name: 'file 3715' }).focus()
    const step = Math.floor(await inRows(`document.querySelector('.rows').clientHeight`)) - 1
    // As in a slow browser, whose next frame comes after the rows, and the key before the event.
    await page.evaluate(`{
      const frame = requestAnimationFrame
      const due = []
      requestAnimationFrame = (work) => due.push(work)
      const observer = new MutationObserver(async () => {
        observer.disconnect()
        for (let turn = 0; turn < 20; turn += 1) await undefined
        requestAnimationFrame = frame
        for (const work of due) work()
        const key = new KeyboardEvent('keydown', { key: 'PageUp', bubbles: true })
        document.activeElement.dispatchEvent(key)
      })
      observer.observe(document.querySelector('.rows-all'), { attributeFilter: ['style'] })
    }`)
    await page.keyboard.press('PageUp')
    await expect.poll(rows).toBeGreaterThan(500)
    await expect.poll(focused).toBe(3_715 - 2 * step)
    await page.locator('[role=grid][aria-busy=false]').waitFor()
    expect(await rows()).toBe(1_000)
  })

  it('are found by what their names contain, in any case', async () => {
    const page = await open()
    await page.getByRole('searchbox').fill('ETA')
    await expect.poll(() => names(page)).toEqual(['beta.txt'])
    await pick(
      page,
      ['Zeta.txt', 'other.txt'].map((path) => ({ path, content: 'x' })),
    )
    await uploaded(page, 2)
    await expect.poll(() => names(page)).toEqual(['beta.txt', 'Zeta.txt'])
    await page.getByRole('searchbox').fill('none')
    await page.getByText('No name contains “none”').waitFor()
    await page.getByRole('searchbox').fill('')
    await expect.poll(() => names(page)).toHaveLength(5)
  })

  it('are asked for again when the service says so, and not before', async () => {
    const front = await startHttpProxy(service)
    onTestFinished(() => front.stop())
    const page = await visitAs({ browser: browser(), service: front, user })
    let asked = 0
    page.on('request', (request) => {
      if (request.url().includes('contains=be')) asked += 1
    })
    front.refusals.set('GET', { 'retry-after': '20' })
    await page.clock.install()
    const refused = page.waitForEvent('requestfinished', (request) =>
      request.url().includes('contains=be'),
    )
    await page.getByRole('searchbox').fill('be')
    await refused
    // Until then the page has begun to wait.
    await seenRequests(page)
    front.refusals.clear()
    await page.clock.fastForward(15_000)
    await seenRequests(page)
    expect(asked).toBe(1)
    await page.clock.fastForward(5_000)
    await expect.poll(() => names(page)).toEqual(['beta.txt'])
    expect(asked).toBe(2)
  })

  it('are downloaded as they are', async () => {
    const page = await open()
    const begun = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download alpha.txt' }).click({ force: true })
    const saved = await begun
    expect(saved.suggestedFilename()).toBe('alpha.txt')
    expect(await readFile(await saved.path(), 'utf8')).toBe('x'.repeat(300))
  })

  it('have names that are text, whatever is in them', async () => {
    for (const name of [HOSTILE, 'a\u202etxt.exe', '${7*7}{{7*7}}', 'javascript:alert(1)']) {
      await upload(service, { user, name, content: 'x' })
    }
    const page = await open()
    let dialogs = 0
    page.on('dialog', (dialog) => {
      dialogs += 1
      void dialog.dismiss()
    })
    expect(await names(page)).toEqual(expect.arrayContaining([HOSTILE, 'a\ufffdtxt.exe']))
    await page.getByRole('button', { name: `Rename ${HOSTILE}` }).click({ force: true })
    await page.getByRole('dialog').getByText(HOSTILE).waitFor()
    await page.keyboard.press('Escape')
    expect(await page.locator('.rows img').count()).toBe(0)
    const begun = page.waitForEvent('download')
    const link = page.getByRole('link', { name: 'Download javascript:alert(1)' })
    await link.click({ force: true })
    expect((await begun).url()).toContain('/users/me/repo/javascript%3Aalert(1)')
    expect(dialogs).toBe(0)
  })

  it('are renamed, and replace another only when that is said', async () => {
    const page = await open()
    await rename(page, 'alpha.txt', 'delta.txt')
    await expect.poll(() => names(page)).toEqual(['beta.txt', 'delta.txt', 'gamma.jpg'])
    await page.getByText('“alpha.txt” was renamed.').waitFor()
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toContain('delta.txt')
    await page.keyboard.press('Control+z')
    await expect.poll(() => names(page)).toEqual(['alpha.txt', 'beta.txt', 'gamma.jpg'])
    await expect.poll(focused).toContain('alpha.txt')
    await rename(page, 'alpha.txt', 'delta.txt')
    await expect.poll(() => names(page)).toEqual(['beta.txt', 'delta.txt', 'gamma.jpg'])
    await rename(page, 'delta.txt', 'beta.txt')
    await page.getByText('A file named “beta.txt” already exists.').waitFor()
    expect((await download(service, { user, name: 'beta.txt' })).body).toHaveLength(100)
    await page.getByRole('button', { name: 'Replace it' }).click()
    await expect.poll(() => names(page)).toEqual(['beta.txt', 'gamma.jpg'])
    expect((await download(service, { user, name: 'beta.txt' })).body).toHaveLength(300)
    await rename(page, 'beta.txt', 'a\\b')
    await page.getByText('cannot contain /').waitFor()
  })

  it('are deleted at once, and come back when that is undone', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Delete alpha.txt' }).click({ force: true })
    await page.getByText('“alpha.txt” was deleted.').waitFor()
    expect(await statusOf('alpha.txt')).toBe(404)
    expect(await names(page)).toEqual(['beta.txt', 'gamma.jpg'])
    await page.getByText('300 bytes of 97 KiB used').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => names(page)).toHaveLength(3)
    expect(await statusOf('alpha.txt')).toBe(200)
    await page.getByText('600 bytes of 97 KiB used').waitFor()
  })

  it('do not come back over a newer file when their deletion is undone', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Delete alpha.txt' }).click({ force: true })
    await page.getByText('“alpha.txt” was deleted.').waitFor()
    await upload(service, { user, name: 'alpha.txt', content: 'new' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('because there is a file with this name again').waitFor()
    expect((await download(service, { user, name: 'alpha.txt' })).body.toString()).toBe('new')
  })

  it('are deleted for good where the service keeps no history, and the page says so', async () => {
    const forgetful = await openWithPage()
    onTestFinished(() => forgetful.stop())
    const one = await forgetful.createUser(1000)
    await upload(forgetful, { user: one, name: 'a.txt', content: 'x' })
    const page = await visitAs({ browser: browser(), service: forgetful, user: one })
    await page.getByRole('button', { name: 'Delete a.txt' }).click({ force: true })
    await page.getByText('“a.txt” was deleted for good.').waitFor()
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  })

  it('are deleted also when the page is left at once', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Delete alpha.txt' }).click({ force: true })
    await page.goto(`${service.url}/livez`)
    await expect.poll(() => statusOf('alpha.txt')).toBe(404)
  })

  it('are not deleted when they have become others', async () => {
    const page = await open()
    await page.route('**/repo/alpha.txt', async (route) => {
      await upload(service, { user, name: 'alpha.txt', content: 'new' })
      await route.continue()
    })
    await page.getByRole('button', { name: 'Delete alpha.txt' }).click({ force: true })
    await page.getByText('because it has changed').waitFor()
    await expect.poll(() => names(page)).toContain('alpha.txt')
    expect((await download(service, { user, name: 'alpha.txt' })).body.toString()).toBe('new')
  })

  it('are shown to others as their owner says, by a link that can be copied', async () => {
    const page = await open()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Share alpha.txt' }).click({ force: true })
    await page.getByText('Advanced').click()
    // The address would work for nobody else.
    expect(await page.getByRole('button', { name: 'Copy link' }).count()).toBe(0)
    await page.getByRole('radio', { name: /^Public/ }).check()
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText('Copied.').waitFor()
    const link = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(link).toBe(`${service.url}/users/${user.userId}/repo/alpha.txt`)
    await expect.poll(async () => (await fetch(link)).status).toBe(200)
    await page.locator('.rows [role=row]', { hasText: 'Public' }).waitFor()
    await page.getByRole('radio', { name: /Only you/ }).check()
    await expect.poll(async () => (await fetch(link)).status).toBe(404)
  })

  it('are the same in two tabs', async () => {
    const page = await open()
    const other = await page.context().newPage()
    await other.goto(service.url)
    await other.getByText('alpha.txt').waitFor()
    await rename(page, 'alpha.txt', 'zeta.txt')
    await expect.poll(() => names(other)).toEqual(['beta.txt', 'gamma.jpg', 'zeta.txt'])
    await other.getByRole('button', { name: 'Delete beta.txt' }).click({ force: true })
    await expect.poll(() => names(page)).toEqual(['gamma.jpg', 'zeta.txt'])
    for (const tab of [page, other]) await tab.getByText('500 bytes of 97 KiB used').waitFor()
  })

  it('show what another device changes, without being asked for again', async () => {
    const page = await open()
    await upload(service, { user, name: 'delta.txt', content: 'x'.repeat(600) })
    await expect.poll(() => names(page)).toContain('delta.txt')
    await change(service, { user, name: 'delta.txt', body: { name: 'epsilon.txt' } })
    await remove(service, { user, name: 'alpha.txt' })
    const left = ['beta.txt', 'epsilon.txt', 'gamma.jpg']
    await expect.poll(() => names(page)).toEqual(left)
    await page.getByText('900 bytes of 97 KiB used').waitFor()
  })

  it('are read again when the service no longer knows what has changed since', async () => {
    const page = await open()
    let refusals = 0
    await page.route('**/users/me/changes?*', async (route) => {
      refusals += 1
      if (refusals > 1) return await route.continue()
      await upload(service, { user, name: 'delta.txt', content: 'x' })
      const body = JSON.stringify({ status: 410, code: 'cursor_expired' })
      await route.fulfill({ status: 410, body })
    })
    await page.reload()
    await expect.poll(() => names(page)).toContain('delta.txt')
    await upload(service, { user, name: 'epsilon.txt', content: 'x' })
    await expect.poll(() => names(page)).toContain('epsilon.txt')
  })

  it('can be worked with by the keyboard alone', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Changed' }).focus()
    await page.keyboard.press('Tab')
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toContain('alpha.txt')
    await page.keyboard.press('ArrowDown')
    await expect.poll(focused).toContain('beta.txt')
    await page.keyboard.press('End')
    await expect.poll(focused).toContain('gamma.jpg')
    await page.keyboard.press('Home')
    await expect.poll(focused).toContain('alpha.txt')
    await page.keyboard.press('PageDown')
    await expect.poll(focused).toContain('gamma.jpg')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'gamma.jpg' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(focused).toContain('gamma.jpg')
    await page.keyboard.press('F2')
    await page.getByRole('dialog', { name: 'Rename' }).waitFor()
    // What is typed replaces the name up to its extension, which is selected with the next frame.
    await expect.poll(() => page.evaluate('document.activeElement.selectionEnd')).toBe(5)
    await page.keyboard.type('omega')
    await page.keyboard.press('Enter')
    await expect.poll(() => names(page)).toContain('omega.jpg')
    // The dialog gives the focus back when it has closed.
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(focused).toContain('omega.jpg')
    await page.getByRole('row', { name: 'omega.jpg' }).focus()
    await page.keyboard.press('Delete')
    await expect.poll(() => names(page)).toEqual(['alpha.txt', 'beta.txt'])
    await expect.poll(focused).toContain('beta.txt')
  })

  it('have a capacity whose parts say what goes when they leave', async () => {
    const period = { startsAt: undefined, endsAt: undefined }
    await service.users.putGrant({
      userId: user.userId,
      source: 'device',
      reference: 'camera-17',
      bytes: 50_000,
      model: 'camera-2',
      label: 'Garden camera',
      ...period,
    })
    const page = await open()
    const panel = page.getByRole('complementary', { name: 'Capacity' })
    await panel.getByText('600 bytes of 146 KiB used').waitFor()
    const parts = panel.getByRole('list', { name: 'Where it comes from' })
    const device = parts.getByRole('listitem').filter({ hasText: 'Garden camera' })
    expect(await device.textContent()).toContain('camera-2')
    expect(await device.textContent()).toContain('Without it, you would have 97 KiB free.')
  })
})

async function rename(page: Page, name: string, newName: string): Promise<void> {
  await page.getByRole('button', { name: `Rename ${name}`, exact: true }).click({ force: true })
  await page.getByLabel('New name').fill(newName)
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
}
