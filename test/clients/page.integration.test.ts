import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MIB } from '../http/fixture.ts'
import { type BadNetwork, startBadNetwork } from '../support/faults/mishaps.ts'
import { startBrowser, whyNoBrowser } from '../support/http/browser.ts'
import { createFolder, freePort } from '../support/servers/local-server.ts'
import { isSkipped } from '../support/servers/needs.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService } from '../support/service/test-service.ts'

const CAPACITY = 4 * MIB
const ADMIN_TOKEN = 'the-admin-token-of-the-example'

const skipped = isSkipped(await whyNoBrowser())

describe.skipIf(skipped)('the web page in docs/clients.md', () => {
  const opened = new AsyncDisposableStack()
  let browser: Browser
  let service: TestService
  let network: BadNetwork
  let url: string
  let page: Page
  let users = 0

  beforeAll(async () => {
    browser = await startBrowser()
    opened.defer(() => browser.close())
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const limits = { baseCapacity: CAPACITY, allowedOrigins: [url] }
    service = await openEmbedded({ ...limits, adminToken: ADMIN_TOKEN })
    opened.defer(() => service.stop())
    network = await startBadNetwork(service)
    opened.defer(() => network.stop())
    await startBackEnd(port)
  })
  afterAll(() => opened.disposeAsync())
  beforeEach(async () => {
    network.mishaps.length = 0
    network.requests.length = 0
    const context = await browser.newContext({ acceptDownloads: true })
    page = await context.newPage()
    await page.goto(url)
    users += 1
    await page.locator('[name=user_id]').fill(`user-${users}`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expectMessage('Signed in.')
    return () => context.close()
  })

  /** Runs a copy of the example, for a service at another address and with short pages of the file list. */
  async function startBackEnd(port: number): Promise<void> {
    const folder = await createFolder('example')
    opened.defer(() => folder.remove())
    const program = join(folder.path, 'back-end.ts')
    await copyFile(join(import.meta.dirname, 'back-end.ts'), program)
    const html = await readFile(join(import.meta.dirname, 'page.html'), 'utf8')
    const own = html
      .replace("SERVICE = 'http://127.0.0.1:3000'", `SERVICE = '${network.url}'`)
      .replace('limit=1000', 'limit=2')
    await writeFile(join(folder.path, 'page.html'), own)
    const settings = { ADMIN_URL: `http://127.0.0.1:${service.adminPort}`, ADMIN_TOKEN }
    const child = spawn(process.execPath, ['--no-warnings', program], {
      env: { ...process.env, ...settings, PORT: `${port}` },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    opened.defer(async () => {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    })
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    expect(line).toBe(`${url}\n`)
  }

  async function expectMessage(text: string): Promise<void> {
    await expect.poll(() => page.locator('#message').textContent()).toContain(text)
  }

  async function upload(name: string, buffer: Buffer): Promise<void> {
    await page.locator('#upload').setInputFiles({ name, mimeType: 'text/plain', buffer })
  }

  async function contentOf(name: string): Promise<Buffer> {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name, exact: true }).click(),
    ])
    expect(download.suggestedFilename()).toBe(name)
    return readFile(await download.path())
  }

  const progress = () => page.evaluate<number>('document.getElementById("progress").value')

  /** Resolves when the page has some bytes of a download. */
  async function begun(): Promise<void> {
    await expect.poll(progress).toBeGreaterThan(0.1)
  }

  it('keeps the access token where no script can read it', async () => {
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ name: 'access_token', httpOnly: true, sameSite: 'Strict' })
    expect(await page.evaluate('document.cookie')).toBe('')
    await upload('kept', Buffer.of(1))
    await expectMessage('Uploaded kept.')
    await page.reload()
    await page.getByRole('button', { name: 'kept', exact: true }).waitFor()
  })

  it('shows the progress of an upload', async () => {
    await upload('film', randomBytes(2 * MIB))
    await expectMessage('Uploaded film.')
    expect(await progress()).toBe(1)
  })

  it('uploads a file and downloads it, whatever its name', async () => {
    for (const content of [randomBytes(2 * MIB), Buffer.of()]) {
      const name = `résumé & 100 % #${content.length}.txt`
      await upload(name, content)
      await expectMessage(`Uploaded ${name}.`)
      expect((await contentOf(name)).equals(content)).toBe(true)
    }
  })

  it('repeats an upload that was lost', async () => {
    const content = randomBytes(1000)
    await upload('warm-up', content)
    await expectMessage('Uploaded warm-up.')
    network.requests.length = 0
    network.mishaps.push({ status: 503, retryAfter: 1 }, 'lost')
    await upload('repeated', content)
    await expectMessage('Uploaded repeated.')
    expect(network.requests.length).toBeGreaterThanOrEqual(3)
    expect((await contentOf('repeated')).equals(content)).toBe(true)
  })

  it('resumes a download that was cut off', async () => {
    const content = randomBytes(3 * MIB)
    await upload('film', content)
    await expectMessage('Uploaded film.')
    network.requests.length = 0
    network.mishaps.push({ cutAfter: MIB, meanwhile: begun })
    expect((await contentOf('film')).equals(content)).toBe(true)
    await expectMessage('Downloaded film.')
    const ranges = network.requests.flatMap(({ headers: { range = [] } }) => range)
    expect(ranges).toHaveLength(1)
    expect(ranges[0]).toMatch(/^bytes=[1-9]\d+-$/)
  })

  it('downloads a file again that has changed before the download resumed', async () => {
    const content = randomBytes(MIB)
    await upload('film', randomBytes(2 * MIB))
    await expectMessage('Uploaded film.')
    const token = (await page.context().cookies())[0]?.value
    const meanwhile = async (): Promise<void> => {
      await begun()
      const headers = { cookie: `access_token=${token}` }
      const target = `${service.url}/users/me/repo/film`
      const reply = await fetch(target, { method: 'PUT', headers, body: content })
      expect(reply.status).toBe(200)
    }
    network.mishaps.push({ cutAfter: MIB / 2, meanwhile })
    expect((await contentOf('film')).equals(content)).toBe(true)
  })

  it('says that the repository is full, with the bytes that are free', async () => {
    await upload('first', randomBytes(3 * MIB))
    await expectMessage('Uploaded first.')
    network.requests.length = 0
    await upload('second', randomBytes(MIB + 1))
    await expectMessage(`Your repository is full: ${MIB} bytes are free.`)
    expect(network.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1)
  })

  it('lists all files, even if they need several requests', async () => {
    for (const name of ['a', 'b', 'c']) {
      await upload(name, Buffer.of(1))
      await expectMessage(`Uploaded ${name}.`)
    }
    network.requests.length = 0
    await page.reload()
    await expect
      .poll(() => page.locator('#files button').allTextContents())
      .toEqual(['a', 'b', 'c'])
    expect(network.requests.filter(({ method }) => method === 'GET')).toHaveLength(2)
  })

  it('says why the user id is refused', async () => {
    await page.locator('[name=user_id]').fill('not a user id')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expectMessage('user_id is not valid.')
  })

  it('asks a user without a cookie to sign in', async () => {
    await page.context().clearCookies()
    await page.reload()
    await expectMessage('Please sign in.')
  })
})
