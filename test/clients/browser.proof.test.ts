import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { MIB, type OpenService, pathOf, upload } from '../http/fixture.ts'
import { findBrowser, startBrowser } from '../support/http/browser.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { type Front, startFront } from '../support/faults/front.ts'
import { createFolder, findProgram } from '../support/servers/local-server.ts'
import { openOnS3 } from '../support/service/s3-service.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'

const SECONDS = 60
const NAME = 'clip é.webm'

const needed = Promise.all([findBrowser(), findProgram('ffmpeg')])
const skipped = isSkipped(await whyMissing(needed))

const minio = inject('minio')

describe.skipIf(skipped)('a film in a browser', () => {
  let film: Buffer
  let browser: Browser
  beforeAll(async () => {
    film = await createFilm()
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  const suite = (open: OpenService) =>
    seekingSuite({ open, film: () => film, browser: () => browser })

  describe('from local files', () => {
    suite(openEmbedded)
  })

  describe.skipIf(minio === undefined)('from MinIO', () => {
    suite((options) => openOnS3(minio, options))
  })
})

interface SeekingSuite {
  readonly open: OpenService
  readonly film: () => Buffer
  readonly browser: () => Browser
}

function seekingSuite({ open, film, browser }: SeekingSuite): void {
  let service: TestService
  let front: Front
  let user: TestUser
  let page: Page
  let traffic: Traffic

  beforeAll(async () => {
    service = await open()
    front = await startFront(service)
    user = await service.createUser(64 * MIB)
    await upload(service, { user, name: NAME, content: film() })
  })
  afterAll(async () => {
    await front?.stop()
    await service?.stop()
  })
  beforeEach(async () => {
    const context = await browser().newContext()
    const [name = '', value = ''] = user.cookie.split('=')
    await context.addCookies([{ name, value, url: front.url, httpOnly: true, sameSite: 'Strict' }])
    page = await context.newPage()
    traffic = await watch(await context.newCDPSession(page), pathOf(NAME))
    await openPlayer(page, front)
  })
  afterEach(() => page.context().close())

  it.each([
    ['the middle', 0.5],
    ['near the end', 0.95],
  ])('jumps to %s by ranges, long before the file has come', async (_where, part) => {
    const position = await seek(page, SECONDS * part)
    expect(position).toMatchObject({ error: null, width: 640 })
    expect(position.time).toBeCloseTo(SECONDS * part, 1)
    const asked = traffic.answers.map(({ first }) => first)
    // Where that moment is in the file, at a constant bit rate, less what comes before it.
    expect(Math.max(...asked)).toBeGreaterThan(film().length * (part - 0.1))
    expect(new Set(traffic.answers.map(({ status }) => status))).toEqual(new Set([206]))
    expect(traffic.bytes()).toBeLessThan(film().length / 2)
  })

  it('jumps back to what it has played, and plays on', async () => {
    await seek(page, SECONDS * 0.9)
    const position = await seek(page, 1)
    expect(position.time).toBeCloseTo(1, 1)
    const later = await page.evaluate(PLAY_ON)
    expect(later).toBeGreaterThan(1.5)
  })
}

/** A minute of noise, which no encoder can make small: 30 MB at a constant 4 Mbit/s, with the index at its front. */
async function createFilm(): Promise<Buffer> {
  const folder = await createFolder('film')
  const path = join(folder.path, 'clip.webm')
  const picture = `testsrc2=size=640x360:rate=8:duration=${SECONDS},noise=alls=60:allf=t`
  const rate = ['-b:v', '4M', '-minrate', '4M', '-maxrate', '4M', '-g', '8']
  const codec = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', ...rate]
  const index = ['-cues_to_front', '1']
  await promisify(execFile)('ffmpeg', [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    picture,
    ...codec,
    ...index,
    path,
  ])
  const film = await readFile(path)
  await folder.remove()
  return film
}

/** Every answer of the service forbids its content to load anything, so the page is not one of those. */
async function openPlayer(page: Page, front: Front): Promise<void> {
  await page.goto(`${front.url}/page`)
  await page.setContent(`<video preload="metadata" muted src="${pathOf(NAME)}"></video>`)
}

interface Position {
  readonly time: number
  readonly width: number
  readonly error: string | null
}

/** Moves the film to `seconds`, and says where it then is. */
function seek(page: Page, seconds: number): Promise<Position> {
  return page.evaluate(`new Promise((resolve) => {
    const video = document.querySelector('video')
    const done = () => resolve({
      time: video.currentTime,
      width: video.videoWidth,
      error: video.error && video.error.message,
    })
    const start = () => {
      video.addEventListener('seeked', done, { once: true })
      video.currentTime = ${seconds}
    }
    video.addEventListener('error', done, { once: true })
    if (video.error) done()
    else if (video.readyState >= 1) start()
    else video.addEventListener('loadedmetadata', start, { once: true })
  })`)
}

const PLAY_ON = `new Promise((resolve) => {
  const video = document.querySelector('video')
  video.addEventListener('timeupdate', () => video.currentTime > 1.5 && resolve(video.currentTime))
  video.play()
})`

interface Traffic {
  /** To each request for the film: the status, and the first byte that it brought. */
  readonly answers: readonly { readonly status: number; readonly first: number }[]
  /** Bytes of the film that have come so far. */
  bytes(): number
}

async function watch(session: CDPSession, path: string): Promise<Traffic> {
  const answers: { status: number; first: number }[] = []
  const requests = new Set<string>()
  let bytes = 0
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (new URL(response.url).pathname !== path) return
    requests.add(requestId)
    const headers = new Headers(response.headers)
    const first = /^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1]
    answers.push({ status: response.status, first: Number(first) })
  })
  session.on('Network.dataReceived', ({ requestId, dataLength }) => {
    if (requests.has(requestId)) bytes += dataLength
  })
  await session.send('Network.enable')
  return { answers, bytes: () => bytes }
}
