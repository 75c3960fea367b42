import { createHash, randomBytes, type Hash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MIB } from '../http/fixture.ts'
import { startTcpProxy, type TcpProxy } from '../support/faults/tcp-proxy.ts'
import { buildPage } from '../support/http/page.ts'
import { temporaryFolder } from '../support/service/program.ts'
import {
  issueCookie,
  type RunningService,
  startService,
} from '../support/service/running-service.ts'
import { describeInBrowser, names, slowDown, uploaded } from './fixture.ts'
import {
  choose,
  NOTHING_STORED,
  storedIn,
  type TusRequests,
  watchRequests,
} from './resumable-fixture.ts'

const FILM_BYTES = 2048 * MIB

/** In bytes a second, so that there is time between the interruptions. */
const SPEED = 64 * MIB

/** What happens when another eighth of the film is recorded. */
const INTERRUPTIONS = ['kill', 'close', 'kill', 'kill', 'close', 'kill', 'kill'] as const

describeInBrowser('a film of 2 GiB', (browser) => {
  let opened: AsyncDisposableStack
  let environment: Readonly<Record<string, string>>
  let service: RunningService
  let gate: TcpProxy
  let context: BrowserContext
  let cookie: string
  let url: string
  let visits: TusRequests[]

  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    visits = []
    await buildPage()
    environment = { DATA_DIR: await temporaryFolder(opened), BASE_CAPACITY: '3GiB' }
    cookie = await issueCookie('alice', { environment, opened })
    service = await startService({ environment, opened })
    gate = await startTcpProxy({ ports: [portOf(service)] })
    opened.defer(() => gate.stop())
    url = gate.url
    context = await browser().newContext()
    opened.defer(() => context.close())
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }])
  })
  afterEach(() => opened.disposeAsync())

  /** Ends the process, and starts another one on what it has left. */
  async function crash(): Promise<void> {
    gate.hold()
    await service.kill()
    gate.cut()
    service = await startService({ environment, opened })
    gate.point([portOf(service)])
  }

  /** Opens the page in a tab, and chooses the film. */
  async function openPage(path: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(url)
    await page.getByRole('complementary', { name: 'Capacity' }).waitFor()
    await slowDown(page, SPEED)
    visits.push(watchRequests(page))
    await choose(page, { path })
    return page
  }

  async function unfinishedUpload() {
    const reply = await fetch(`${service.url}/users/me/uploads`, { headers: { cookie } })
    const { uploads } = (await reply.json()) as {
      readonly uploads: readonly { readonly offset: number; readonly state: string }[]
    }
    return uploads[0]
  }

  /** How many bytes the service has recorded. */
  const recorded = async (): Promise<number> => (await unfinishedUpload())?.offset ?? 0

  /** Until then, the page would ask whether to take the upload over. */
  async function untilNothingArrives(): Promise<void> {
    await expect.poll(async () => (await unfinishedUpload())?.state).toBe('open')
  }

  it('arrives whole though the service is killed five times and the tab closed twice (R38)', async () => {
    const film = await makeFilm(await temporaryFolder(opened))
    let page = await openPage(film.path)
    for (const [at, interruption] of INTERRUPTIONS.entries()) {
      const enough = ((at + 1) * FILM_BYTES) / 8
      await expect.poll(recorded, { timeout: 240_000, interval: 100 }).toBeGreaterThan(enough)
      if (interruption === 'kill') await crash()
      else {
        await page.close()
        await untilNothingArrives()
        page = await openPage(film.path)
      }
    }
    await slowDown(page, -1)
    await uploaded(page, 1)
    expect(await names(page)).toEqual(['film.mov'])
    expect(await storedIn(page)).toEqual(NOTHING_STORED)
    expect(visits.map(({ creations }) => creations())).toEqual([1, 0, 0])
    const offsets = visits.flatMap((requests) => requests.offsets())
    expect(offsets).toEqual(offsets.toSorted((a, b) => a - b))
    expect(await digestOf(`${service.url}/users/me/repo/film.mov`, cookie)).toBe(film.sha256)
  })
})

const portOf = ({ url }: RunningService): number => Number(new URL(url).port)

/** Writes a file of random bytes. */
async function makeFilm(
  folder: string,
): Promise<{ readonly path: string; readonly sha256: string }> {
  const path = join(folder, 'film.mov')
  const hash = createHash('sha256')
  const blocks = function* () {
    for (let left = FILM_BYTES; left > 0; left -= BLOCK_BYTES) {
      const block = randomBytes(BLOCK_BYTES)
      hash.update(block)
      yield block
    }
  }
  await pipeline(Readable.from(blocks()), createWriteStream(path))
  const modified = new Date(1_700_000_000_000)
  await utimes(path, modified, modified)
  return { path, sha256: hash.digest('hex') }
}

const BLOCK_BYTES = 8 * MIB

async function digestOf(url: string, cookie: string): Promise<string> {
  const { status, body } = await fetch(url, { headers: { cookie } })
  expect(status).toBe(200)
  const hash: Hash = createHash('sha256')
  for await (const chunk of body ?? []) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}
