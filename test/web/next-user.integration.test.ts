import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseFileName } from '../../src/core/files/file-name.ts'
import { remove } from '../http/file-requests.ts'
import { ask, jsonOf, MIB, upload, usageOf } from '../http/fixture.ts'
import type { TestService } from '../support/service/test-service.ts'
import {
  describeInBrowser,
  openWithPage,
  pick,
  secretOf,
  seenRequests,
  slowDown,
  visitAs,
} from './fixture.ts'

describeInBrowser('signing in as another user', (browser) => {
  let service: TestService
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())

  it('sends nothing of the user before, in no tab, under the name of the next, by a link', async () => {
    const user = await service.createUser(64 * MIB)
    const page = await visitAs({ browser: browser(), service, user })
    const busy = await page.context().newPage()
    await busy.goto(service.url)
    await busy.getByText('Nothing here yet').waitFor()
    await slowDown(busy, MIB)
    const sent: string[] = []
    busy.on('request', (request) => {
      if (request.method() === 'PUT') sent.push(new URL(request.url()).pathname)
    })
    let ended = 0
    busy.on('requestfinished', (request) => {
      if (request.method() === 'PUT') ended += 1
    })
    const other = await service.createUser(64 * MIB)
    // The cookie is there a while before the tab that asked for it can say so.
    await page.route('**/session', async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      const response = await route.fetch()
      await expect.poll(() => ended).toBe(3)
      await seenRequests(busy)
      await route.fulfill({ response })
    })
    await page.goto(`${service.url}/#access_token=${secretOf(other)}`)
    const link = page.getByRole('button', { name: 'Sign in with this link' })
    await link.waitFor()
    const files = ['a.bin', 'b.bin', 'c.bin', 'd.bin', 'e.bin']
    await pick(
      busy,
      files.map((path) => ({ path, content: Buffer.alloc(MIB) })),
    )
    await expect.poll(() => sent.length).toBe(3)
    await link.click()
    for (const tab of [page, busy]) await tab.locator('.user', { hasText: other.userId }).waitFor()
    await seenRequests(busy)
    expect(sent.toSorted()).toEqual(files.slice(0, 3).map((name) => `/users/me/repo/${name}`))
    expect(await usageOf(service, other)).toMatchObject({ fileCount: 0, reserved: 0 })
    expect(await usageOf(service, user)).toMatchObject({ fileCount: 3, reserved: 0 })
  })

  it('takes no upload, dialog, message or search of the one before', async () => {
    const user = await service.createUser(64 * MIB)
    const other = await service.createUser(64 * MIB)
    for (const each of [user, other]) {
      await upload(service, { user: each, name: 'report.txt', content: 'x' })
    }
    await upload(service, { user, name: 'old.txt', content: 'x' })
    const page = await visitAs({ browser: browser(), service, user })
    const message = page.locator('.toast')
    await page.getByRole('searchbox').fill('t')
    await page.getByRole('navigation', { name: 'Searched in' }).waitFor()
    const chunk = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    await page.route('**/assets/resumable-*', async (route) => {
      asked.resolve()
      await chunk.promise
      await route.continue()
    })
    await pick(page, [{ path: 'large.bin', content: Buffer.alloc(20 * MIB) }])
    await asked.promise
    await page.getByRole('button', { name: 'Share report.txt' }).click({ force: true })
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    const second = await page.context().newPage()
    // Until this is answered, the first tab shows the user before.
    const shown = Promise.withResolvers<void>()
    await page.route('**/session', async (route) => {
      await shown.promise
      await route.continue()
    })
    await second.goto(`${service.url}/#access_token=${secretOf(other)}`)
    await second.getByRole('button', { name: 'Sign in with this link' }).click()
    await second.locator('.user', { hasText: other.userId }).waitFor()
    chunk.resolve()
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.method()))
    await dialog.getByText('Anyone').first().click()
    await dialog.press('Escape')
    await page.getByRole('button', { name: 'Delete old.txt' }).click({ force: true })
    await seenRequests(page)
    expect(sent.filter((method) => method !== 'GET')).toEqual([])
    shown.resolve()
    await page.locator('.user', { hasText: other.userId }).waitFor()
    expect(await dialog.count()).toBe(0)
    expect(await message.count()).toBe(0)
    expect(await page.getByRole('searchbox').inputValue()).toBe('')
    await seenRequests(page)
    expect(await usageOf(service, other)).toMatchObject({ fileCount: 1, reserved: 0 })
    const name = parseFileName('report.txt')
    const file = { userId: other.userId, name, audience: 'owner' } as const
    expect(await service.ledger.findFile(file)).toMatchObject({ visibility: 'private' })
    expect(sent.filter((method) => method !== 'GET')).toEqual([])
  })

  it('ends what is repeated for the one before', async () => {
    const user = await service.createUser(MIB)
    const other = await service.createUser(MIB)
    for (const each of [user, other]) {
      await upload(service, { user: each, name: 'a.txt', content: 'x' })
      await remove(service, { user: each, name: 'a.txt' })
    }
    const page = await visitAs({ browser: browser(), service, user })
    const second = await page.context().newPage()
    await second.goto(`${service.url}/#access_token=${secretOf(other)}`)
    const link = second.getByRole('button', { name: 'Sign in with this link' })
    await link.waitFor()
    // Until this is answered, the first tab does not know who is signed in.
    const shown = Promise.withResolvers<void>()
    await page.route('**/session', async (route) => {
      await shown.promise
      await route.continue()
    })
    let attempts = 0
    await page.route('**/users/me/history', async (route) => {
      if (route.request().method() !== 'DELETE') return route.continue()
      attempts += 1
      if (attempts > 1) return route.continue()
      await link.click()
      await second.locator('.user', { hasText: other.userId }).waitFor()
      await route.abort('connectionreset')
    })
    await page.getByRole('button', { name: 'Deleted and earlier versions' }).click()
    await page.clock.install()
    const lost = page.waitForEvent('requestfailed', (request) => request.method() === 'DELETE')
    await page.getByRole('button', { name: 'Delete all for good' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Delete/ })
      .click()
    await lost
    await seenRequests(page)
    await page.clock.fastForward(5_000)
    await seenRequests(page)
    shown.resolve()
    await page.locator('.user', { hasText: other.userId }).waitFor()
    await seenRequests(page)
    expect(attempts).toBe(1)
    for (const each of [user, other]) {
      const reply = await ask(service, { user: each, path: '/users/me/history' })
      expect(jsonOf(reply)).toMatchObject({ versions: [{ name: 'a.txt' }] })
    }
  })
})
