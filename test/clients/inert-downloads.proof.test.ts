import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MIB, pathOf, upload } from '../http/fixture.ts'
import { namesOf } from '../http/file-requests.ts'
import { startBrowser, whyNoBrowser } from '../support/http/browser.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { type HttpProxy, startHttpProxy } from '../support/faults/http-proxy.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { startWebSite, type WebSite } from '../support/http/web-site.ts'
import { hostileFiles, type HostileFile, ranPath, useAsEverything } from './hostile-files.ts'
import { isSkipped } from '../support/servers/needs.ts'

const skipped = isSkipped(await whyNoBrowser())

const NAMES = hostileFiles('').map(({ name }) => name)

/** What `?inline=true` shows, and as what. Nothing else is shown. */
const SHOWN: Readonly<Record<string, string>> = {
  'page.html%00.txt': 'text/plain',
  'picture.svg.png': 'image/png',
  'picture.gif': 'image/gif',
}

describe.skipIf(skipped)('in a browser, an uploaded file', () => {
  let browser: Browser
  let canary: WebSite
  let service: TestService
  let front: HttpProxy
  let user: TestUser
  let files: readonly HostileFile[]
  let context: BrowserContext
  let page: Page

  beforeAll(async () => {
    browser = await startBrowser()
    canary = await startWebSite('<!doctype html>')
    service = await openEmbedded()
    front = await startHttpProxy(service)
    user = await service.createUser(MIB)
    files = hostileFiles(canary.sameSite)
    for (const { name, content } of files) {
      const { status } = await upload(service, { user, name, content, method: 'PUT' })
      if (status !== 200) throw new Error(`${name} could not be uploaded: ${status}`)
    }
  })
  afterAll(async () => {
    await browser?.close()
    await Promise.all([front?.stop(), canary?.stop()])
    await service?.stop()
  })
  beforeEach(async () => {
    canary.visits.length = 0
    context = await browser.newContext()
    const [name = '', value = ''] = user.cookie.split('=')
    const cookie = { name, value, url: front.url, httpOnly: true, sameSite: 'Strict' } as const
    await context.addCookies([cookie])
    page = await context.newPage()
  })
  afterEach(() => context.close())

  it.each(NAMES)('%s that is opened downloads, unless it is inert', async (name) => {
    for (const query of ['', '?view', '?type=text/html', '?response-content-type=text/html']) {
      expect(await open(`${pathOf(name)}${query}`)).toBe('downloads')
    }
    const shown = SHOWN[name]
    expect(await open(`${pathOf(name)}?inline=true&type=text/html`)).toBe(
      shown === undefined ? 'downloads' : `is shown as ${shown}`,
    )
    // The second time the browser may know it, and gets 304.
    expect(await open(pathOf(name))).toBe('downloads')
    expect(await open(pathOf(name, user.userId))).toBe('downloads')
    await expectNothingRan()
  })

  it.each(NAMES)('%s that a page opens in a new tab downloads', async (name) => {
    await page.goto(`${front.url}/page`)
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      page.evaluate(`void window.open(${JSON.stringify(pathOf(name))})`),
    ])
    const saved = await tab.waitForEvent('download', { timeout: 1_000 }).catch(() => undefined)
    // It may have come before anyone waited for it; what must not come is its content.
    const shown = saved === undefined && !tab.isClosed() ? await tab.content() : ''
    expect(shown).not.toContain('rendered')
    await expectNothingRan()
  })

  it.each(NAMES)('a part of %s that begins in the midst of it is not rendered', async (name) => {
    const { content = '' } = files.find((file) => file.name === name) ?? {}
    for (const first of [0, Math.max(0, content.indexOf('<script>')), content.length >> 1]) {
      await page.setExtraHTTPHeaders({ Range: `bytes=${first}-` })
      expect(await open(pathOf(name))).toBe('downloads')
    }
    await expectNothingRan()
  })

  it.each(NAMES)('%s is no script, style, frame or worker of a page', async (name) => {
    for (const times of [1, 2]) {
      await page.goto(`${front.url}/page`)
      const url = `${pathOf(name)}?times=${times}`
      expect(await page.evaluate(useAsEverything(url))).toBe(0)
      const others = page.frames().filter((frame) => frame !== page.mainFrame())
      for (const frame of others) expect(await frame.content()).not.toContain('rendered')
    }
    await expectNothingRan()
  })

  it('does not run in a refusal that quotes it', async () => {
    const [{ content } = { content: '' }] = files
    const text = encodeURIComponent(content)
    for (const path of [`/users/me/repo?${text}=1`, `/users/me/repo?order=${text}`, `/${text}`]) {
      const reply = await page.goto(front.url + path)
      expect(reply?.status()).toBeGreaterThanOrEqual(400)
      expect(await page.locator('script').count()).toBe(0)
    }
    await page.goto(`${front.url}/page`)
    await page.evaluate(useAsEverything(`/users/me/repo?${text}=1`))
    await expectNothingRan()
  })

  it('does run where a server says what it looks like, so that it would be seen', async () => {
    const reports = new Set<string>()
    for (const { name, type, content } of files.filter((file) =>
      /html|svg|javascript/.test(file.type),
    )) {
      const url = front.url + pathOf(name)
      front.pages.set(pathOf(name), { type, content })
      await page.goto(`${front.url}/page`)
      if (type === 'text/javascript') await page.addScriptTag({ url })
      else await page.goto(url)
      const ran = ranPath(name) + front.url
      await expect.poll(() => canary.visits, { timeout: 10_000 }).toContain(ran)
      front.pages.delete(pathOf(name))
      reports.add(name)
    }
    expect(reports.size).toBeGreaterThan(10)
    await service.sweep()
    expect(await namesOf(service, { user })).toContain('forged')
    await fetch(`${service.url}${pathOf('forged')}`, {
      method: 'DELETE',
      headers: { cookie: user.cookie },
    })
  })

  /** What becomes of a page that goes to a path of the service. */
  async function open(path: string): Promise<string> {
    const download = page.waitForEvent('download', { timeout: 10_000 }).catch(() => undefined)
    const reply = await page.goto(front.url + path).catch((error: Error) => error)
    if (reply instanceof Error && reply.message.includes('Download is starting')) {
      const saved = await download
      await saved?.cancel()
      return 'downloads'
    }
    return `is shown as ${await page.evaluate<string>('document.contentType')}`
  }

  /** No script ran: nobody told the canary, no cookie or name was set, no file was written. */
  async function expectNothingRan(): Promise<void> {
    await page.goto(`${front.url}/page`)
    // What is under way by now was sent before this.
    await page.evaluate(`fetch('${canary.sameSite}/fence')`)
    expect(canary.visits.filter((visit) => !/^\/(fence|favicon.ico)$/.test(visit))).toEqual([])
    expect((await context.cookies()).map(({ name }) => name)).toEqual(['access_token'])
    expect(await page.evaluate('window.name')).toBe('')
    expect(await namesOf(service, { user })).not.toContain('forged')
  }
})
