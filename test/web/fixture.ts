import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { startBrowser, whyNoBrowser } from '../support/http/browser.ts'
import { buildLinkPage, buildPage } from '../support/http/page.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService, TestServiceOptions, TestUser } from '../support/service/test-service.ts'
import { createFolder } from '../support/servers/local-server.ts'
import { isSkipped } from '../support/servers/needs.ts'

const MIB = 2 ** 20

const skipped = isSkipped(await whyNoBrowser())

/** Tests in a browser, where there is one. */
export function describeInBrowser(name: string, suite: (browser: () => Browser) => void): void {
  describe.skipIf(skipped)(`${name}, in a browser`, () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await startBrowser()
    })
    afterAll(() => browser?.close())
    suite(() => browser)
  })
}

/** A service with the page as its sources are now. */
export async function openWithPage(options?: TestServiceOptions): Promise<TestService> {
  return openEmbedded({ ...options, page: await buildPage(), linkPage: await buildLinkPage() })
}

export interface VisitOptions extends BrowserContextOptions {
  readonly browser: Browser
  readonly service: Pick<TestService, 'url'>
  /** Who is signed in; nobody when left out. */
  readonly user?: TestUser | undefined
  readonly path?: string
  /** Prepares the tab before it loads the page. */
  readonly prepare?: (page: Page) => unknown
  /** Lets the test move the clock of all tabs by `page.context().clock`; it goes on by itself as well. */
  readonly hasTestClock?: boolean
}

/** A tab with the page in it, and what went wrong there. */
export interface Visit {
  readonly page: Page
  /**
   * Fails for what the policy kept from happening, for a request to another host, and for an error that nobody caught.
   */
  readonly expectClean: () => void
}

/** Opens the page, with cookies of its own. */
export async function openPage({
  browser,
  service,
  user,
  path = '/',
  hasTestClock = false,
  prepare,
  ...options
}: VisitOptions): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  if (hasTestClock) await context.clock.install()
  if (user !== undefined) {
    const [name = '', value = ''] = user.cookie.split('=')
    await context.addCookies([
      { name, value, url: service.url, httpOnly: true, sameSite: 'Strict' },
    ])
  }
  const page = await context.newPage()
  const faults = faultsOf(page, new URL(service.url).host)
  await prepare?.(page)
  await page.goto(service.url + path)
  return { page, expectClean: () => expect(faults).toEqual([]) }
}

/** What goes wrong in a page from now on. */
function faultsOf(page: Page, ownHost: string): readonly string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`))
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML|Trusted Type/i.test(message.text()))
      faults.push(message.text())
  })
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    if (protocol === 'http:' && host !== ownHost) faults.push(request.url())
  })
  return faults
}

/** As `openPage`, for one test, which fails at its end for what went wrong there. */
export async function visit(options: VisitOptions): Promise<Page> {
  const { page, expectClean } = await openPage(options)
  onTestFinished(async () => {
    await page.context().close()
    expectClean()
  })
  return page
}

/** As `visit`, signed in, with the list there. */
export async function visitAs(options: VisitOptions & { readonly user: TestUser }): Promise<Page> {
  const page = await visit(options)
  await page.getByRole('complementary', { name: 'Capacity' }).waitFor()
  return page
}

export function secretOf({ cookie }: TestUser): string {
  return cookie.slice('access_token='.length)
}

/** The names in the list, from the top. */
export async function names(page: Page): Promise<readonly string[]> {
  return page.locator('.rows .name').allTextContents()
}

export interface Dropped {
  /** With folders, such as `trip/day 1/a.jpg`. */
  readonly path: string
  readonly content: Buffer | string
}

/** Chooses files in the dialog of the browser. */
export async function pick(page: Page, files: readonly Dropped[]): Promise<void> {
  await pickIn(page.locator('[data-picker=files]'), files)
}

/** Chooses files for a field of the page. */
export async function pickIn(field: Locator, files: readonly Dropped[]): Promise<void> {
  if (files.every(({ content }) => content.length <= MIB)) {
    const mimeType = 'application/octet-stream'
    return field.setInputFiles(
      files.map(({ path, content }) => ({ name: path, mimeType, buffer: Buffer.from(content) })),
    )
  }
  // Of large files, the browser is not sent every byte.
  const folder = await createFolder('pick')
  onTestFinished(() => folder.remove())
  const paths = files.map(({ path }) => join(folder.path, path))
  for (const [at, path] of paths.entries()) await writeFile(path, files[at]?.content ?? '')
  await field.setInputFiles(paths)
}

/** Holds what lies on the disk, folders and all, over the middle of an element or of the page. Returns what lets it go. */
export async function hold(
  page: Page,
  paths: readonly string[],
  over: Locator = page.locator('html'),
): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page)
  const { x = 0, y = 0, width = 0, height = 0 } = (await over.boundingBox()) ?? {}
  const data = { items: [], files: [...paths], dragOperationsMask: 1 }
  const at = { x: x + width / 2, y: y + height / 2, data }
  for (const type of ['dragEnter', 'dragOver'] as const) {
    await session.send('Input.dispatchDragEvent', { type, ...at })
  }
  return async () => {
    await session.send('Input.dispatchDragEvent', { type: 'drop', ...at })
  }
}

/** The same until the page says that it takes it: a mouse that rests goes on telling that it is there. */
export async function drag(page: Page, paths: readonly string[]): Promise<() => Promise<void>> {
  let detach = await hold(page, paths)
  while (!(await page.getByText('Drop to upload').isVisible())) detach = await hold(page, paths)
  return detach
}

export async function drop(page: Page, paths: readonly string[]): Promise<void> {
  const detach = await drag(page, paths)
  await detach()
}

/** Resolves once the effects of what is shown now have run: the page listens only then, and moves the focus. */
export async function effectsRun(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))`)
}

/** Resolves once the requests that the page has sent until now have been seen. */
export async function seenRequests(page: Page): Promise<void> {
  await page.evaluate(`fetch('/livez')`)
}

/** Waits until the panel says that this many files are uploaded. */
export async function uploaded(page: Page, count: number): Promise<void> {
  const text = count === 1 ? '1 file uploaded' : `${count} files uploaded`
  await page.getByRole('heading', { name: text }).waitFor({ timeout: 60_000 })
}

/** Makes uploads of a tab that slow, in bytes a second; -1 is as fast as can be. */
export async function slowDown(page: Page, bytesPerSecond: number): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: bytesPerSecond,
  })
}
