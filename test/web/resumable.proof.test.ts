import { writeFile } from 'node:fs/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { download, MIB, upload, usageOf } from '../http/fixture.ts'
import { authorized, callerNamed } from '../support/caller.ts'
import { startTcpProxy } from '../support/faults/tcp-proxy.ts'
import { buildPage } from '../support/http/page.ts'
import { temporaryFolder } from '../support/service/program.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import {
  describeInBrowser,
  drop,
  names,
  openWithPage,
  pick,
  slowDown,
  uploaded,
  visitAs,
} from './fixture.ts'
import {
  choose,
  type Film,
  FILM_BYTES,
  isUnderWay,
  makeFilm,
  NOTHING_STORED,
  startRestartable,
  storedIn,
  unfinished,
  uploads,
  watchRequests,
} from './resumable-fixture.ts'
import { beginUpload } from '../support/http/tus-client.ts'

/** So slow that there is time to interrupt it, in bytes a second. A request keeps the speed that it began with. */
const SLOW = 1.5 * MIB

/** So slow that something can happen before its end. */
const STEADY = 4 * MIB

describeInBrowser('large uploads', (browser) => {
  let service: TestService
  let user: TestUser
  let opened: AsyncDisposableStack
  let folder: string
  let film: Film
  beforeAll(async () => {
    service = await openWithPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    user = await service.createUser(64 * MIB)
    folder = await temporaryFolder(opened)
    film = await makeFilm(folder)
  })
  afterEach(() => opened.disposeAsync())

  /** Each has a browser of its own: what one knows the other does not. */
  const open = (at: { readonly url: string } = service, as = user): Promise<Page> =>
    visitAs({ browser: browser(), service: at, user: as })

  async function isHeld(): Promise<boolean | undefined> {
    const subject = authorized(await callerNamed(service.users, user.userId))
    const [upload] = await service.uploads.list({ subject, after: undefined, limit: 1 })
    return upload?.isHeld
  }

  /** Begins to send the film, and resolves in the middle of it. */
  async function beginSlowly(page: Page): Promise<void> {
    await slowDown(page, SLOW)
    await choose(page, film)
    await isUnderWay(page)
  }

  /** Begins to send the film, and closes the tab in the middle. Resolves to where it was. */
  async function interrupt(): Promise<BrowserContext> {
    const page = await open()
    await beginSlowly(page)
    await page.close()
    // Until the service notices, it says that the file is uploaded elsewhere.
    await expect.poll(isHeld).toBe(false)
    return page.context()
  }

  const contentOf = async (at: TestService, as: TestUser): Promise<Buffer> =>
    (await download(at, { user: as, name: 'film.mov' })).body

  async function expectStored({ content }: Film): Promise<void> {
    expect((await contentOf(service, user)).equals(content)).toBe(true)
    expect(await usageOf(service, user)).toMatchObject({ used: FILM_BYTES, reserved: 0 })
  }

  it('R38 go on where they were after the connection was lost, and keep nothing in the browser', async () => {
    const gate = await startTcpProxy({ ports: [service.port] })
    onTestFinished(() => gate.stop())
    const page = await open(gate)
    const requests = watchRequests(page)
    await beginSlowly(page)
    gate.point([])
    gate.cut()
    await page.getByText('Connection lost. Retrying').first().waitFor()
    await slowDown(page, -1)
    gate.point([service.port])
    await uploaded(page, 1)
    const [first, ...more] = requests.offsets()
    expect(first).toBe(0)
    expect(Math.max(...more)).toBeGreaterThan(MIB)
    expect(requests.creations()).toBe(1)
    await expectStored(film)
    expect(await names(page)).toEqual(['film.mov'])
    expect(await storedIn(page)).toEqual(NOTHING_STORED)
  })

  it('uploads of small files go on by themselves after the connection was lost in the middle', async () => {
    const gate = await startTcpProxy({ ports: [service.port] })
    onTestFinished(() => gate.stop())
    const page = await open(gate)
    await slowDown(page, MIB)
    await pick(page, [
      { path: 'a.bin', content: Buffer.alloc(3 * MIB, 'a') },
      { path: 'b.bin', content: Buffer.alloc(3 * MIB, 'b') },
    ])
    await page
      .getByText(/[12](\.\d)? MiB of 3 MiB/)
      .first()
      .waitFor()
    gate.point([])
    gate.cut()
    await page.getByText('Connection lost. Retrying').first().waitFor()
    await page.getByText('The service cannot be reached.').waitFor()
    await slowDown(page, -1)
    gate.point([service.port])
    await uploaded(page, 2)
    expect(await page.getByText('The service cannot be reached.').count()).toBe(0)
    for (const name of ['a', 'b']) {
      const { body } = await download(service, { user, name: `${name}.bin` })
      expect(body.equals(Buffer.alloc(3 * MIB, name))).toBe(true)
    }
  })

  it('R38 go on by themselves after ten minutes without a network', async () => {
    const gate = await startTcpProxy({ ports: [service.port] })
    onTestFinished(() => gate.stop())
    const page = await open(gate)
    const requests = watchRequests(page)
    await page.clock.install()
    await beginSlowly(page)
    await page.context().setOffline(true)
    gate.point([])
    gate.cut()
    await page.getByText('Connection lost. Retrying').first().waitFor()
    await page.clock.runFor('10:00')
    await page.getByText('The service cannot be reached.').waitFor()
    gate.point([service.port])
    await slowDown(page, -1)
    await page.context().setOffline(false)
    await uploaded(page, 1)
    expect(requests.creations()).toBe(1)
    expect(requests.offsets().at(-1)).toBeGreaterThan(MIB)
    await expectStored(film)
  })

  it.each([
    ['was started anew, with what had arrived', untilRecorded, MIB],
    ['crashed, with what it had recorded', async () => undefined, -1],
  ])('go on after the service %s', async (_how, settle, least) => {
    const restartable = await startRestartable({ page: await buildPage() })
    onTestFinished(() => restartable.stop())
    const owner = await restartable.service().createUser(64 * MIB)
    const gate = await startTcpProxy({ ports: [restartable.service().port] })
    onTestFinished(() => gate.stop())
    const page = await open(gate, owner)
    const requests = watchRequests(page)
    await beginSlowly(page)
    gate.point([])
    gate.cut()
    await settle(restartable.service(), owner)
    await restartable.restart()
    await slowDown(page, -1)
    gate.point([restartable.service().port])
    await uploaded(page, 1)
    expect(requests.creations()).toBe(1)
    expect(requests.offsets().at(-1)).toBeGreaterThan(least)
    expect((await contentOf(restartable.service(), owner)).equals(film.content)).toBe(true)
  })

  it('R38 are listed when their tab was closed, and go on by themselves when the file is chosen again', async () => {
    const context = await interrupt()
    const page = await context.newPage()
    await page.goto(service.url)
    await page.getByText('1 upload was interrupted. Choose the file again to continue.').waitFor()
    expect(await unfinished(page).textContent()).toMatch(
      /^film\.mov\d+(\.\d)? MiB of 17 MiB, kept until /,
    )
    await page.getByText('1 unfinished upload (17 MiB)').waitFor()
    const requests = watchRequests(page)
    await choose(page, film)
    await uploaded(page, 1)
    expect(requests.creations()).toBe(0)
    expect(requests.offsets()[0]).toBeGreaterThan(MIB)
    await expectStored(film)
    await unfinished(page).waitFor({ state: 'detached' })
    await page.getByText('1 unfinished upload').waitFor({ state: 'detached' })
    expect(await storedIn(page)).toEqual(NOTHING_STORED)
  })

  it('R38 go on in another browser when the file is dropped there', async () => {
    await interrupt()
    const page = await open()
    await page.getByText('1 upload was interrupted.').waitFor()
    const requests = watchRequests(page)
    await drop(page, [film.path])
    await uploaded(page, 1)
    expect(requests.creations()).toBe(0)
    await expectStored(film)
  })

  it('R38 ask when the file may have changed, and can start over', async () => {
    await interrupt()
    film = await makeFilm(folder, new Date(1_700_000_001_000))
    const page = await open()
    const requests = watchRequests(page)
    await choose(page, film)
    await uploads(page).getByText('The file may have changed').waitFor()
    expect(requests.offsets()).toEqual([])
    await page.getByRole('button', { name: 'Start over' }).click()
    await uploaded(page, 1)
    expect(requests.offsets()[0]).toBe(0)
    await expectStored(film)
  })

  it('are continued with a file of another date when the user says so', async () => {
    await interrupt()
    const copy = await makeFilm(folder, new Date(1_700_000_002_000))
    await writeFile(copy.path, film.content)
    const page = await open()
    const requests = watchRequests(page)
    await choose(page, copy)
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await uploaded(page, 1)
    expect(requests.creations()).toBe(0)
    await expectStored(film)
  })

  it('are seen in another browser while they run, which disturbs them only when the user says so', async () => {
    const first = await open()
    await slowDown(first, SLOW)
    await choose(first, film)
    await isUnderWay(first)
    const second = await open()
    await second.getByText('1 upload is running elsewhere.').waitFor()
    await unfinished(second)
      .getByText(/^Being uploaded elsewhere, \d/)
      .waitFor()
    const requests = watchRequests(second)
    await choose(second, film)
    await uploads(second).getByText('This file is being uploaded elsewhere.').waitFor()
    await uploads(second).getByRole('button', { name: 'Skip' }).click()
    expect(requests.offsets()).toEqual([])
    await slowDown(first, -1)
    await uploaded(first, 1)
    await unfinished(second).waitFor({ state: 'detached' })
    await expectStored(film)
  })

  it('are read again while another browser stores one of them', async () => {
    const first = await open()
    await slowDown(first, SLOW)
    await choose(first, film)
    await isUnderWay(first)
    const second = await open()
    await second.getByText('1 upload is running elsewhere.').waitFor()
    // As if this read came between the last byte and the commit.
    await second.route(
      '**/users/me/uploads?*',
      async (route) => {
        const response = await route.fetch()
        const body = (await response.text()).replace('"receiving"', '"complete"')
        await route.fulfill({ response, body })
      },
      { times: 1 },
    )
    await second.getByText('1 upload could not be stored yet.').waitFor()
    await second.getByText('1 upload is running elsewhere.').waitFor()
    await slowDown(first, -1)
    await uploaded(first, 1)
    await expectStored(film)
  })

  it('are taken over from another browser when the user says so', async () => {
    const first = await open()
    await slowDown(first, MIB)
    await choose(first, film)
    await isUnderWay(first)
    const second = await open()
    const requests = watchRequests(second)
    await choose(second, film)
    await uploads(second).getByRole('button', { name: 'Continue here' }).click()
    await uploaded(second, 1)
    expect(requests.creations()).toBe(0)
    // The other one looks where it is, and finds that all of it has arrived.
    await uploaded(first, 1)
    await expectStored(film)
  })

  it('can be cancelled in the list, which frees their space', async () => {
    await interrupt()
    const page = await open()
    await page.getByRole('button', { name: 'Cancel the upload of film.mov' }).click()
    await unfinished(page).waitFor({ state: 'detached' })
    await page.getByText('1 unfinished upload').waitFor({ state: 'detached' })
    expect((await usageOf(service, user)).reserved).toBe(0)
    await choose(page, film)
    await uploaded(page, 1)
    await expectStored(film)
  })

  it('end when they are cancelled elsewhere, and do not begin again by themselves', async () => {
    const page = await open()
    await beginSlowly(page)
    const other = await open()
    await other.getByRole('button', { name: 'Cancel the upload of film.mov' }).click()
    await page.getByText('This upload was cancelled elsewhere.').waitFor({ timeout: 30_000 })
    await expect.poll(async () => (await usageOf(service, user)).reserved).toBe(0)
    await slowDown(page, -1)
    await page.getByRole('button', { name: 'Retry film.mov' }).click()
    await uploaded(page, 1)
    await expectStored(film)
  })

  it('say how much space is missing at their end, and need nothing sent again once there is', async () => {
    const page = await open()
    const requests = watchRequests(page)
    await slowDown(page, STEADY)
    await choose(page, film)
    await isUnderWay(page)
    await service.setCapacity(user, 16 * MIB)
    await slowDown(page, -1)
    await page.getByText('Not enough space: 1 MiB more needed. Up to 16 MiB would fit.').waitFor()
    expect((await download(service, { user, name: 'film.mov' })).status).toBe(404)
    await service.setCapacity(user, 64 * MIB)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByText('There is enough space now.').waitFor()
    await page.getByRole('button', { name: 'Retry film.mov' }).click()
    await uploaded(page, 1)
    expect(requests.offsets()).toEqual([0])
    await expectStored(film)
  })

  it('are stored from the list when all of them had arrived before there was space', async () => {
    const first = await open()
    await slowDown(first, STEADY)
    await choose(first, film)
    await isUnderWay(first)
    await service.setCapacity(user, 16 * MIB)
    await slowDown(first, -1)
    await first.getByText('Not enough space: 1 MiB more needed.').waitFor()
    await first.close()
    const page = await open()
    await page.getByText('1 upload could not be stored yet.').waitFor()
    await page.getByText('The whole file has arrived, but there is not enough space.').waitFor()
    const store = page.getByRole('button', { name: 'Store film.mov now' })
    await store.click()
    await page.locator('.toast').getByText('there is not enough space').waitFor()
    await service.setCapacity(user, 64 * MIB)
    await store.click()
    await expect.poll(() => names(page)).toEqual(['film.mov'])
    await unfinished(page).waitFor({ state: 'detached' })
    await expectStored(film)
  })

  it('do not replace a file that has come meanwhile, and ask', async () => {
    const page = await open()
    await slowDown(page, STEADY)
    await choose(page, film)
    await isUnderWay(page)
    await upload(service, { user, name: 'film.mov', content: 'another' })
    await slowDown(page, -1)
    await page.getByText('A file with this name already exists.').waitFor()
    expect((await contentOf(service, user)).toString()).toBe('another')
    expect((await usageOf(service, user)).reserved).toBe(0)
    await page.getByRole('button', { name: 'Replace' }).click()
    await uploaded(page, 1)
    await expectStored(film)
  })

  it('uploads of small files are continued, too, where another program has begun them', async () => {
    const { cookie } = user
    await beginUpload(service, {
      cookie,
      name: 'hello.txt',
      length: 1000,
      content: 'x'.repeat(600),
    })
    const page = await open()
    await page.getByText('1 upload was interrupted.').waitFor()
    const requests = watchRequests(page)
    await pick(page, [{ path: 'hello.txt', content: 'x'.repeat(1000) }])
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await uploaded(page, 1)
    expect(requests.offsets()).toEqual([600])
    const { body } = await download(service, { user, name: 'hello.txt' })
    expect(body.toString()).toBe('x'.repeat(1000))
  })

  it('load what sends them with the first of them', async () => {
    const page = await open()
    const requests = watchRequests(page)
    // A slow upload is seen among the unfinished ones, whose list is a part of its own.
    const parts = () => requests.paths.filter((path) => /\/assets\/(?!unfinished-)/.test(path))
    await pick(page, [{ path: 'small.bin', content: Buffer.alloc(MIB) }])
    await uploaded(page, 1)
    expect(parts().toSorted()).toEqual([
      expect.stringMatching(/\/assets\/upload-panel-/),
      expect.stringMatching(/\/assets\/xhr-/),
    ])
    await choose(page, film)
    await expect.poll(() => names(page)).toEqual(['film.mov', 'small.bin'])
    expect(parts().toSorted()).toEqual([
      expect.stringMatching(/\/assets\/resumable-/),
      expect.stringMatching(/\/assets\/send-/),
      expect.stringMatching(/\/assets\/upload-panel-/),
      expect.stringMatching(/\/assets\/xhr-/),
    ])
  })

  it('go in one request when what continues them can not be loaded, as after an update of the service', async () => {
    const page = await open()
    await page.route('**/assets/resumable-*', (route) => route.abort())
    const requests = watchRequests(page)
    await choose(page, film)
    await uploaded(page, 1)
    expect(requests.creations()).toBe(0)
    await expectStored(film)
  })
})

/** Waits until the service knows that the connection has broken. */
async function untilRecorded({ url }: TestService, { cookie }: TestUser): Promise<void> {
  const state = async () => {
    const reply = await fetch(`${url}/users/me/uploads`, { headers: { cookie } })
    const page = (await reply.json()) as { readonly uploads: readonly { readonly state: string }[] }
    return page.uploads[0]?.state
  }
  await expect.poll(state).toBe('open')
}
