import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { upload } from '../http/fixture.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, openWithPage, visitAs } from './fixture.ts'
import { privateBytes, tasksOf } from './measures.ts'
import { drawScenes, withExif } from './photos.ts'

const KIB = 1024
const MIB = 2 ** 20
const PHOTOS = 2_000
const ROW_PIXELS = 208

/** At 50 frames a second. What the machine draws depends on what else it does; the work of the page does not. */
const FRAME_MS = 20

describeInBrowser('2,000 photos in the grid', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ maxFiles: 10_000 })
    user = await service.createUser(2_000 * MIB)
    const hues = Array.from({ length: 12 }, (_, at) => at * 30)
    const photos = await drawScenes(
      browser(),
      hues.map((hue) => ({ width: 2000, height: 1500, hue })),
    )
    const thumbnails = await drawScenes(
      browser(),
      hues.map((hue) => ({ width: 160, height: 120, hue })),
    )
    // What follows the end of a JPEG is not shown, but makes it larger than what is read of it.
    const padding = Buffer.alloc(256 * KIB)
    const files = photos.map((photo, at) => {
      const thumbnail = thumbnails[at] ?? photo
      return Buffer.concat([withExif(photo, { thumbnail }), padding])
    })
    const names = Array.from({ length: PHOTOS }, (_, at) => `IMG_${at + 10_000}.jpg`)
    while (names.length > 0) {
      const some = names.splice(0, 16)
      const contents = some.map((name, at) => ({ name, content: files[at % 12] ?? '' }))
      await Promise.all(contents.map((file) => upload(service, { user, ...file })))
    }
  })
  afterAll(() => service?.stop())

  it('scroll smoothly in little memory, and 200 KiB at most are read of each', async () => {
    const page = await visitAs({ browser: browser(), service, user })
    const read: Promise<readonly [name: string, bytes: number]>[] = []
    page.on('requestfinished', (request) => {
      const name = /IMG_\d+/.exec(request.url())?.[0]
      if (name === undefined) return
      read.push(request.sizes().then(({ responseBodySize }) => [name, responseBodySize] as const))
    })
    await page.getByRole('button', { name: 'Show as a grid' }).click()
    await shown(page, 15)
    const rows = PHOTOS / 5
    let mostBytes = 0
    const weigh = async (): Promise<void> => {
      mostBytes = Math.max(mostBytes, await tabBytes(browser()))
    }

    // From the top to the end at 3 rows a second, so that all are loaded; then fast, from what the browser keeps.
    await browser().startTracing(page, { categories: ['toplevel'] })
    const slow = await scroll(page, { pixels: 40 * ROW_PIXELS, pixelsPerFrame: 10 })
    const tasks = tasksOf(await browser().stopTracing())
    await shown(page, 15)
    await weigh()
    const fast = await scroll(page, { pixels: rows * ROW_PIXELS, pixelsPerFrame: 400 })
    await shown(page, 10)
    await weigh()
    const back = await scroll(page, { pixels: -rows * ROW_PIXELS, pixelsPerFrame: 400 })
    await shown(page, 15)
    for (let at = 0; at <= rows; at += 40) {
      await page.evaluate(`document.querySelector('.rows').scrollTop = ${at * ROW_PIXELS}`)
      await shown(page, 10)
      await weigh()
    }
    const sizes = new Map<string, number>()
    for (const [name, bytes] of await Promise.all(read)) {
      sizes.set(name, (sizes.get(name) ?? 0) + bytes)
    }
    const bytes = [...sizes.values()]
    // Of the thread itself: what else the machine does meanwhile does not count.
    const msPerFrame = tasks.reduce((sum, ms) => sum + ms, 0) / slow.frames
    const late = tasks.filter((ms) => ms > FRAME_MS).length / slow.frames
    console.log({
      frames: { slow, fast, back },
      longestTasksMs: tasks.toSorted((a, b) => b - a).slice(0, 5),
      msPerFrame,
      late,
      tabMiB: Math.round(mostBytes / MIB),
      photosRead: bytes.length,
      mostBytesOfOne: Math.max(...bytes),
    })
    expect(msPerFrame).toBeLessThan(FRAME_MS / 2)
    expect(late).toBeLessThan(0.01)
    expect(tasks.filter((ms) => ms > 50)).toEqual([])
    expect(mostBytes).toBeLessThan(400 * MIB)
    expect(bytes.length).toBeGreaterThan(200)
    expect(Math.max(...bytes)).toBeLessThan(200 * KIB)
    expect(await page.locator('.tile').count()).toBeLessThan(80)
  })
})

/** Waits until that many thumbnails are in view. */
async function shown(page: Page, count: number): Promise<void> {
  await expect
    .poll(
      () =>
        page.evaluate(`(() => {
          const box = document.querySelector('.rows').getBoundingClientRect()
          return [...document.querySelectorAll('.tile img')].filter((image) => {
            const { top, bottom } = image.getBoundingClientRect()
            return image.complete && bottom > box.top && top < box.bottom
          }).length
        })()`),
      { timeout: 30_000 },
    )
    .toBeGreaterThanOrEqual(count)
}

interface Scrolling {
  readonly pixels: number
  readonly pixelsPerFrame: number
}

interface Frames {
  readonly frames: number
  readonly perSecond: number
  readonly medianMs: number
  readonly p95Ms: number
}

/** Scrolls a little with every frame, and says how many frames there were. */
async function scroll(page: Page, { pixels, pixelsPerFrame }: Scrolling): Promise<Frames> {
  return (await page.evaluate(`new Promise((resolve) => {
    const rows = document.querySelector('.rows')
    const end = rows.scrollTop + ${pixels}
    const times = []
    const step = (now) => {
      times.push(now)
      const before = rows.scrollTop
      rows.scrollTop += ${Math.sign(pixels) * pixelsPerFrame}
      const isOver = rows.scrollTop === before || Math.abs(rows.scrollTop - end) < ${pixelsPerFrame}
      if (!isOver) return requestAnimationFrame(step)
      const gaps = times.slice(1).map((time, at) => time - times[at]).sort((a, b) => a - b)
      const round = (value) => Math.round(value * 10) / 10
      resolve({
        frames: gaps.length,
        perSecond: round(gaps.length / ((times.at(-1) - times[0]) / 1000)),
        medianMs: round(gaps[Math.floor(gaps.length / 2)]),
        p95Ms: round(gaps[Math.floor(gaps.length * 0.95)]),
      })
    }
    requestAnimationFrame(step)
  })`)) as Frames
}

/** Bytes of the process of the tab. */
async function tabBytes(browser: Browser): Promise<number> {
  const root = await browser.newBrowserCDPSession()
  const { processInfo } = await root.send('SystemInfo.getProcessInfo')
  await root.detach()
  const renderers = processInfo.filter(({ type }) => type === 'renderer')
  const sizes = await Promise.all(renderers.map(({ id }) => privateBytes(id)))
  return Math.max(...sizes)
}
