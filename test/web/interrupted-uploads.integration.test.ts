import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { download, MIB, upload, usageOf } from '../http/fixture.ts'
import { startHttpProxy } from '../support/faults/http-proxy.ts'
import { startTcpProxy } from '../support/faults/tcp-proxy.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import {
  describeInBrowser,
  names,
  openWithPage,
  pick,
  secretOf,
  seenRequests,
  slowDown,
  uploaded,
  visitAs,
} from './fixture.ts'

describeInBrowser('uploads that are interrupted', (browser) => {
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

  async function revokeTokens(): Promise<void> {
    for (const { tokenId } of await service.accessTokens.list(user.userId)) {
      await service.accessTokens.revoke({ userId: user.userId, tokenId })
    }
  }

  const contentOf = async (name: string): Promise<string> =>
    (await download(service, { user, name })).body.toString()

  it('are kept when the token is revoked, and go on after signing in again', async () => {
    const page = await open()
    await slowDown(page, MIB)
    const files = ['a.bin', 'b.bin', 'c.bin', 'd.bin', 'e.bin']
    await pick(
      page,
      files.map((path) => ({ path, content: Buffer.alloc(MIB, path) })),
    )
    const reserved = async () => (await usageOf(service, user)).reserved
    await expect.poll(reserved).toBe(3 * MIB)
    await revokeTokens()
    await page.getByText('Your access token is no longer valid').waitFor()
    await page.getByText(/files? still to upload/).waitFor()
    // What was under way has ended, so that the rest has asked, and was refused.
    await expect.poll(reserved, { timeout: 20_000 }).toBe(0)
    await slowDown(page, -1)
    const { secret } = await service.accessTokens.issue({
      userId: user.userId,
      label: 'new',
      expiresInSeconds: undefined,
    })
    user = { ...user, cookie: `access_token=${secret}` }
    await page.getByLabel('Access token', { exact: true }).fill(secretOf(user))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await uploaded(page, files.length)
    for (const name of files) expect(await contentOf(name)).toBe(Buffer.alloc(MIB, name).toString())
  })

  it('are not sent to the repository of another user who signs in, and nor is anything shown to them', async () => {
    await upload(service, { user, name: 'secret plans.txt', content: 'x' })
    const page = await open()
    await slowDown(page, MIB)
    await pick(
      page,
      ['a.bin', 'b.bin', 'c.bin', 'd.bin'].map((path) => ({ path, content: Buffer.alloc(MIB) })),
    )
    await page
      .getByText(/of 1 MiB/)
      .first()
      .waitFor()
    await revokeTokens()
    await page.getByText(/still to upload/).waitFor()
    const other = await service.createUser(64 * MIB)
    await page.getByLabel('Access token', { exact: true }).fill(secretOf(other))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Nothing here yet').waitFor()
    expect(await page.getByText('secret plans.txt').count()).toBe(0)
    await pick(page, [{ path: 'own.txt', content: 'x' }])
    await uploaded(page, 1)
    expect(await names(page)).toEqual(['own.txt'])
    expect(await usageOf(service, other)).toMatchObject({ fileCount: 1, reserved: 0 })
  })

  it('end, and deletions are made, when their user signs out', async () => {
    await upload(service, { user, name: 'old.txt', content: 'x' })
    const page = await open()
    await slowDown(page, MIB)
    await page.getByRole('button', { name: 'Delete old.txt' }).click({ force: true })
    await pick(page, [{ path: 'large.bin', content: Buffer.alloc(20 * MIB) }])
    await page.getByText(/of 20 MiB/).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.getByText('still to upload').count()).toBe(0)
    await expect.poll(() => usageOf(service, user)).toMatchObject({ fileCount: 0, reserved: 0 })
  })

  it('wait as long as the service asks for before they are tried again', async () => {
    const front = await startHttpProxy(service)
    onTestFinished(() => front.stop())
    const page = await open(front)
    const tries = triesOf(page)
    front.refusals.set('PUT', { 'retry-after': '20' })
    await page.clock.install()
    await pick(page, [{ path: 'a.bin', content: Buffer.alloc(MIB) }])
    await expect.poll(tries.ended).toBe(1)
    front.refusals.clear()
    await page.getByText('Waiting, 1 MiB').waitFor()
    await page.clock.fastForward(15_000)
    await seenRequests(page)
    expect(tries.begun()).toBe(1)
    await page.clock.fastForward(5_000)
    await uploaded(page, 1)
    expect(tries.begun()).toBe(2)
  })

  it('are tried again ever more slowly, and then not before the user says so', async () => {
    const front = await startHttpProxy(service)
    onTestFinished(() => front.stop())
    const page = await open(front)
    const tries = triesOf(page)
    front.refusals.set('PUT', {})
    await page.evaluate('Math.random = () => 0.5')
    await page.clock.install()
    await pick(page, [{ path: 'a.bin', content: Buffer.alloc(MIB) }])
    for (let count = 1; count < MOST_TRIES - 1; count += 1) {
      await expect.poll(tries.ended).toBe(count)
      await page.getByText('Waiting, 1 MiB').waitFor()
      await page.clock.fastForward(LONGEST_WAIT_MS)
    }
    await expect.poll(tries.ended).toBe(MOST_TRIES - 1)
    await page.getByText('Waiting, 1 MiB').waitFor()
    await page.clock.fastForward(LONGEST_WAIT_MS / 2)
    await seenRequests(page)
    expect(tries.begun()).toBe(MOST_TRIES - 1)
    await page.clock.fastForward(LONGEST_WAIT_MS / 2)
    await page.getByText('The upload failed repeatedly.').waitFor()
    await page.clock.fastForward(60_000)
    await seenRequests(page)
    expect(tries.begun()).toBe(MOST_TRIES)
    front.refusals.clear()
    await page.getByRole('button', { name: 'Retry a.bin' }).click()
    await uploaded(page, 1)
  })

  it('are found to have arrived when only the answer was lost', async () => {
    const gate = await startTcpProxy({ ports: [service.port] })
    onTestFinished(() => gate.stop())
    const page = await open(gate)
    void gate.lose({ after: 'GET /', request: 'PUT /users/me/repo/a.txt', loses: 'answer' })
    await pick(page, [{ path: 'a.txt', content: 'hello' }])
    await page.getByText(/of 5 bytes|Saving/).waitFor()
    await expect
      .poll(async () => (await download(service, { user, name: 'a.txt' })).status)
      .toBe(200)
    gate.cut()
    await uploaded(page, 1)
    expect(await contentOf('a.txt')).toBe('hello')
  })
})

/** The first one, and those after it that the page makes by itself. */
const MOST_TRIES = 9
/** Without the random part. */
const LONGEST_WAIT_MS = 30_000

interface Tries {
  readonly begun: () => number
  /** How many have been answered. The page knows the answer, although it may not show it yet. */
  readonly ended: () => number
}

/** The tries to upload of a page from now on, as they come. */
function triesOf(page: Page): Tries {
  let begun = 0
  let ended = 0
  page.on('request', (request) => {
    if (request.method() === 'PUT') begun += 1
  })
  page.on('requestfinished', (request) => {
    if (request.method() === 'PUT') ended += 1
  })
  return { begun: () => begun, ended: () => ended }
}
