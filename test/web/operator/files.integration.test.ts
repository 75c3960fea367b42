import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { download, upload } from '../../http/fixture.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { describeInBrowser } from '../fixture.ts'
import { expectSound, NARROW } from '../looks.ts'
import { confirm, openWithOperatorPage, visitAsOperator } from './fixture.ts'

const HOSTILE = '<img src=x onerror=alert(1)>\u202egpj.exe'

const parentOf = (name: string): string => name.slice(0, name.lastIndexOf('/') + 1)

describeInBrowser('the files of a user, as the operator sees them', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithOperatorPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(100_000)
  })

  const put = (name: string, content = 'x', query = '') =>
    upload(service, { user, name, content, query })
  const openFiles = async () => {
    const path = `/#/users/${user.userId}`
    const page = await visitAsOperator({ browser: browser(), service, path })
    await page.getByRole('link', { name: 'Files' }).click()
    await page.getByRole('heading', { name: `Files of ${user.userId}` }).waitFor()
    return page
  }

  it('are found by a part of their name, sorted, and deleted on confirmation', async () => {
    await put('Annual report.pdf', 'x'.repeat(2048), '?visibility=public')
    await put('other.txt', 'x'.repeat(500))
    await put(HOSTILE)
    const page = await openFiles()
    const rows = page.getByRole('row').filter({ has: page.getByRole('cell') })
    await expect.poll(() => rows.count()).toBe(3)
    const hostile = rows.filter({ hasText: '<img src=x onerror=alert(1)>\ufffdgpj.exe' })
    expect(await hostile.locator('bdi').count()).toBe(1)
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('Largest first')
    await expect.poll(() => rows.first().textContent()).toContain('Annual report.pdfPublic2 KiB')
    await page.getByRole('searchbox').fill('REPORT')
    await expect.poll(() => rows.count()).toBe(1)
    const remove = page.getByRole('button', { name: 'Delete Annual report.pdf' })
    await remove.focus()
    await page.keyboard.press('Enter')
    expect((await download(service, { user, name: 'Annual report.pdf' })).status).toBe(200)
    await confirm(page, 'Delete')
    await page.getByText('No name contains “REPORT”').waitFor()
    expect((await download(service, { user, name: 'Annual report.pdf' })).status).toBe(404)
    await page.getByRole('link', { name: user.userId }).click()
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByRole('button', { name: /^Restore Annual report/ }).waitFor()
  })

  it('are shown with their folders below their names, and deleted by both', async () => {
    const long = `Trip/Day 1/${'a long way '.repeat(8)}/a #1?.jpg`
    for (const name of [long, 'Trip/a.jpg', 'a.jpg']) await put(name)
    await put('Trip/Empty/', '')
    const page = await openFiles()
    await expect
      .poll(() => page.locator('.rows .name').allTextContents())
      .toEqual(['a.jpg', 'a.jpgTrip/', `a #1?.jpg${parentOf(long)}`, 'Empty/Trip/'])
    await expectSound(page)
    await page.setViewportSize(NARROW)
    const tooHigh = `[...document.querySelectorAll('.row')].filter((row) => row.scrollHeight > row.clientHeight + 1).length`
    expect(await page.evaluate(tooHigh)).toBe(0)
    for (const name of [long, 'Trip/Empty/', 'Trip/a.jpg']) {
      await page.getByRole('button', { name: `Delete ${name}` }).click()
      await confirm(page, 'Delete')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect((await download(service, { user, name })).status).toBe(404)
    }
    expect(await page.locator('.rows .name').allTextContents()).toEqual(['a.jpg'])
    await page.getByRole('searchbox').fill('Trip/')
    await page.getByText('No name contains “Trip/”').waitFor()
  })

  it('are in the order of people once all are read, and of the service before', async () => {
    for (const name of ['b2', 'a', 'B10', 'C']) await put(name)
    const page = await openFiles()
    const shown = () => page.locator('.rows .name').allTextContents()
    await expect.poll(shown).toEqual(['a', 'b2', 'B10', 'C'])
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('Name, Z to A')
    await expect.poll(shown).toEqual(['C', 'B10', 'b2', 'a'])
    // A page at a time, the rest only when that is let through.
    const rest: (() => Promise<void>)[] = []
    await page.route('**/files?*', async (route) => {
      const url = new URL(route.request().url())
      if (url.searchParams.has('cursor'))
        await new Promise<void>((go) => rest.push(async () => go()))
      url.searchParams.set('limit', '3')
      await route.continue({ url: url.href })
    })
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('Name, A to Z')
    await expect.poll(shown).toEqual(['B10', 'C', 'a'])
    await expect.poll(() => rest.length).toBe(1)
    await rest[0]?.()
    await expect.poll(shown).toEqual(['a', 'b2', 'B10', 'C'])
  })

  it('are searched no longer than their view is open', async () => {
    const page = await openFiles()
    const answers: (() => Promise<void>)[] = []
    await page.route('**/files?*contains=*', (route) => {
      answers.push(() => route.fulfill({ json: { files: [], prefixes: [], next_cursor: 'next' } }))
    })
    await page.getByRole('searchbox').fill('nowhere')
    await expect.poll(() => answers.length).toBe(1)
    await answers[0]?.()
    await expect.poll(() => answers.length).toBe(2)
    await page.getByRole('link', { name: user.userId }).click()
    await page.getByRole('button', { name: 'Show', exact: true }).waitFor()
    await answers[1]?.()
    await page.evaluate(`fetch('/livez')`)
    expect(answers).toHaveLength(2)
  })

  it('are read page by page, and rendered where the keyboard has scrolled to', async () => {
    const names = Array.from({ length: 620 }, (_, at) => `file-${String(at).padStart(4, '0')}`)
    for (let at = 0; at < names.length; at += 20) {
      await Promise.all(names.slice(at, at + 20).map((name) => put(name)))
    }
    const page = await openFiles()
    const table = page.getByRole('table', { name: 'Files' })
    await table.getByText('file-0000').waitFor()
    expect(await table.getByRole('row').count()).toBeLessThan(60)
    await table.focus()
    await page.keyboard.press('End')
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('621')
    await page.keyboard.press('End')
    await table.getByText('file-0619').waitFor()
    expect(await table.getByRole('row').count()).toBeLessThan(60)
  })
})
