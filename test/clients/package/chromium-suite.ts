import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { MIB, secretOf } from '../../http/fixture.ts'
import { type HttpProxy, startHttpProxy } from '../../support/faults/http-proxy.ts'
import { startBrowser } from '../../support/http/browser.ts'
import type { WebSite } from '../../support/http/web-site.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import type { EmptyProject } from './installed-package.ts'

interface ChromiumSuite {
  readonly open: () => {
    readonly project: EmptyProject
    /** A page of another origin, which the service allows. */
    readonly site: WebSite
    readonly service: TestService
    /** Where the pages reach the service. */
    readonly port: number
  }
  /** Whether every connection breaks there, as in the proof. Then nothing large arrives in one request. */
  readonly isBroken: boolean
}

/** What a page, a worker, and a page of another origin do with the package. */
export function chromiumSuite({ open, isBroken }: ChromiumSuite): void {
  const opened = new AsyncDisposableStack()
  let browser: Browser
  let front: HttpProxy
  let chunks: Awaited<ReturnType<EmptyProject['bundle']>>
  let user: TestUser
  let page: Page
  beforeAll(async () => {
    const { project, port } = open()
    browser = await startBrowser()
    opened.defer(() => browser.close())
    front = await startHttpProxy({ port })
    opened.defer(() => front.stop())
    chunks = await project.bundle(`export * from '@cloud-repository/client'`)
    for (const { fileName, code } of chunks) {
      front.pages.set(`/${fileName}`, { type: 'text/javascript', content: code })
    }
  })
  afterAll(() => opened.disposeAsync())
  beforeEach(async () => {
    user = await open().service.createUser(256 * MIB)
    const context = await browser.newContext()
    const [name = '', value = ''] = user.cookie.split('=')
    await context.addCookies([{ name, value, url: front.url, httpOnly: true, sameSite: 'Strict' }])
    page = await context.newPage()
    await page.goto(`${front.url}/page`)
    return () => context.close()
  })

  it('uploads, downloads and follows with the cookie of a page', async () => {
    const program = transfer({ origin: front.url, options: "{ url: '/', cookies: true }" })
    expectAll(await page.evaluate(`(async () => { ${program} })()`))
  })

  it('does so in a worker', async () => {
    const options = JSON.stringify({ url: front.url, cookies: true })
    const program = transfer({ origin: front.url, options })
    const content = `(async () => { ${program} })()
      .then(postMessage, (error) => postMessage({ error: String(error) }))`
    front.pages.set('/worker.js', { type: 'text/javascript', content })
    expectAll(
      await page.evaluate(`new Promise((resolve) => {
        new Worker('/worker.js', { type: 'module' }).onmessage = ({ data }) => resolve(data)
      })`),
    )
  })

  it('does so with a token on another origin', async () => {
    const { site, port } = open()
    await page.context().clearCookies()
    for (const { fileName, code } of chunks) {
      const script = { contentType: 'text/javascript', body: code }
      await page.route(`${site.sameSite}/${fileName}`, (route) => route.fulfill(script))
    }
    await page.goto(site.sameSite)
    const options = JSON.stringify({ url: `http://127.0.0.1:${port}`, token: secretOf(user) })
    const program = transfer({ origin: site.sameSite, options })
    expectAll(await page.evaluate(`(async () => { ${program} })()`))
  })

  // A request that breaks off has told its progress in vain.
  it.each(isBroken ? [] : [8 * MIB])(
    'tells the progress at %i B/s of a file that is sent in one request',
    async (uploadThroughput) => {
      const network = await page.context().newCDPSession(page)
      const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput }
      await network.send('Network.enable')
      await network.send('Network.emulateNetworkConditions', slow)
      const told = await page.evaluate<number[]>(`(async () => {
      const { createClient } = await import('${front.url}/entry.js')
      const { files } = createClient({ url: '/', cookies: true })
      const told = []
      const onProgress = ({ sent, total }) => told.push(sent / total)
      await files.upload('slow', new Uint8Array(${4 * MIB}), { onProgress })
      return told
    })()`)
      expect(told.filter((part) => part > 0 && part < 1).length).toBeGreaterThan(1)
      expect(told.at(-1)).toBe(1)
    },
  )
}

/** A program that uses the package of this origin, and returns what came of it. */
function transfer({
  origin,
  options,
}: {
  readonly origin: string
  readonly options: string
}): string {
  return `
    const { createClient, isProblem } = await import('${origin}/entry.js')
    const client = createClient({ ...${options}, retry: { tries: 12, firstDelay: 20 } })
    const { files } = client
    const bytes = new Uint8Array(${10 * MIB})
    for (let at = 0; at < bytes.length; at += 65536) {
      crypto.getRandomValues(bytes.subarray(at, at + 65536))
    }
    const digest = async (content) => {
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', content))
      return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
    }
    const told = []
    const onProgress = ({ sent }) => told.push(sent)
    const file = await files.upload('film', new File([bytes], 'film'), { onProgress })
    const note = await files.upload('note', new Blob(['note']), { ifNoneMatch: '*', digest: true })
    const streamed = await files.upload('streamed', new Blob([bytes]).stream())
    const download = await files.download('film')
    const downloaded = await digest(await new Response(download.stream).arrayBuffer())
    const page = await files.list().pages()[Symbol.asyncIterator]().next()
    const follow = async () => {
      for await (const change of client.changes.follow({ cursor: page.value.changes_cursor })) {
        return change.type + ' ' + change.name
      }
    }
    const followed = follow()
    await files.delete('note')
    return {
      expected: await digest(bytes),
      large: file.sha256,
      small: note.size,
      streamed: streamed.sha256,
      downloaded,
      last: told.at(-1),
      followed: await followed,
      code: await files.get('none').catch((error) => isProblem(error, 'not_found') && error.code),
    }`
}

function expectAll(results: Record<string, unknown>): void {
  const { expected, ...others } = results
  expect(expected).toMatch(/^[0-9a-f]{64}$/)
  expect(others).toEqual({
    large: expected,
    small: 4,
    streamed: expected,
    downloaded: expected,
    last: 10 * MIB,
    followed: 'file.deleted note',
    code: 'not_found',
  })
}
