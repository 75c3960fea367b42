import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { upload } from '../http/fixture.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, openWithPage, visitAs } from './fixture.ts'
import { violationsIn } from './looks.ts'
import { blankPng, drawScenes, withExif } from './photos.ts'

const MIB = 2 ** 20

describeInBrowser('the grid', (browser) => {
  let service: TestService
  let user: TestUser
  let photos: Record<'embedded' | 'turned' | 'plain' | 'drawing', Buffer>
  beforeAll(async () => {
    service = await openWithPage()
    const [photo, small, drawing] = await drawScenes(browser(), [
      { width: 1200, height: 900, hue: 30 },
      { width: 160, height: 120, hue: 30 },
      { width: 700, height: 1000, hue: 200, type: 'image/png' },
    ])
    if (photo === undefined || small === undefined || drawing === undefined) throw new Error()
    // What follows the end of a JPEG is not shown, but makes it as large as photos are.
    const large = Buffer.concat([photo, Buffer.alloc(400 * 1024)])
    photos = {
      embedded: withExif(large, { thumbnail: small }),
      turned: withExif(large, { thumbnail: small, orientation: 6 }),
      plain: photo,
      drawing,
    }
  })
  afterAll(() => service?.stop())

  async function fill(files: Readonly<Record<string, Buffer | string>>): Promise<void> {
    user = await service.createUser(200 * MIB)
    for (const [name, content] of Object.entries(files)) {
      await upload(service, { user, name, content })
    }
  }

  async function openGrid(): Promise<Page> {
    const page = await visitAs({ browser: browser(), service, user })
    await page.getByRole('button', { name: 'Show as a grid' }).click()
    await page.locator('.tile').first().waitFor()
    return page
  }

  const pictureOf = (page: Page, name: string) =>
    page.getByRole('gridcell', { name }).locator('img')

  it('shows what cameras embed, turned as the photo is, and reads no more than 200 KiB for it', async () => {
    await fill({ 'a.jpg': photos.embedded, 'b.jpg': photos.turned, 'c.txt': 'x' })
    const page = await visitAs({ browser: browser(), service, user })
    const bytes = countBytes(page)
    await page.getByRole('button', { name: 'Show as a grid' }).click()
    expect(await sizeOf(pictureOf(page, 'a.jpg'))).toEqual([160, 120])
    expect(await sizeOf(pictureOf(page, 'b.jpg'))).toEqual([120, 160])
    for (const name of ['a.jpg', 'b.jpg']) {
      await expect.poll(() => bytes.of(name)).toBeGreaterThan(0)
      expect(await bytes.of(name)).toBeLessThan(200 * 1024)
    }
    expect(await page.getByRole('gridcell', { name: 'c.txt' }).locator('svg').count()).toBe(2)
    expect(await bytes.of('c.txt')).toBe(0)
    expect(await violationsIn(page)).toEqual([])
  })

  it('decodes other images at the size that is shown, and none that would fill the memory', async () => {
    await fill({
      'bomb.png': blankPng(8_000),
      'drawing.png': photos.drawing,
      'plain.jpg': photos.plain,
    })
    await upload(service, { user, name: 'small.png', content: blankPng(400) })
    await upload(service, { user, name: 'z-broken.png', content: 'no image' })
    const page = await openGrid()
    expect(await sizeOf(pictureOf(page, 'plain.jpg'))).toEqual([427, 321])
    expect(await sizeOf(pictureOf(page, 'drawing.png'))).toEqual([320, 458])
    expect(await sizeOf(pictureOf(page, 'small.png'))).toEqual([320, 320])
    for (const name of ['bomb.png', 'z-broken.png']) {
      await expect.poll(() => isKnown(page, name)).toBe(true)
      expect(await pictureOf(page, name).count()).toBe(0)
    }
  })

  /** Whether what the browser keeps says that a file of this user has no thumbnail. */
  async function isKnown(page: Page, name: string): Promise<boolean> {
    const versions = await keptIn(page)
    const { files } = (await (
      await fetch(`${service.url}/users/me/repo`, { headers: { cookie: user.cookie } })
    ).json()) as { files: { name: string; etag: string }[] }
    return versions.includes(files.find((file) => file.name === name)?.etag ?? '')
  }

  it('keeps thumbnails by file version until the user signs out, and remembers that it is one', async () => {
    await fill({ 'a.jpg': photos.embedded })
    const page = await openGrid()
    await sizeOf(pictureOf(page, 'a.jpg'))
    await expect.poll(async () => (await keptIn(page)).length).toBe(1)
    const bytes = countBytes(page)
    await page.reload()
    await sizeOf(pictureOf(page, 'a.jpg'))
    expect(await bytes.of('a.jpg')).toBe(0)
    await upload(service, { user, name: 'a.jpg', content: photos.turned })
    await expect.poll(() => sizeOf(pictureOf(page, 'a.jpg'))).toEqual([120, 160])
    await page.evaluate(`((close) => {
      IDBDatabase.prototype.close = function () {
        window.hasClosed = true
        close.call(this)
      }
    })(IDBDatabase.prototype.close)`)
    await page.getByRole('button', { name: 'Show as a list' }).click()
    await expect.poll(() => page.evaluate(`window.hasClosed`)).toBe(true)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await expect.poll(() => page.evaluate(`indexedDB.databases()`)).toEqual([])
  })

  it('loads nothing that is not in view, little at once, and stops what is scrolled past', async () => {
    const count = 60
    await fill({})
    await Promise.all(
      Array.from({ length: count }, (_, at) =>
        upload(service, { user, name: `${at + 100}.jpg`, content: photos.embedded }),
      ),
    )
    const page = await visitAs({ browser: browser(), service, user })
    const held = Promise.withResolvers<void>()
    const asked = new Set<string>()
    const over: string[] = []
    page.on('requestfailed', (request) => over.push(nameIn(request.url())))
    await page.route(/\/repo\/\d+\.jpg$/, async (route) => {
      asked.add(nameIn(route.request().url()))
      await held.promise
      await route.continue().catch(() => undefined)
    })
    await page.getByRole('button', { name: 'Show as a grid' }).click()
    await expect.poll(() => asked.size).toBe(3)
    const first = [...asked]
    expect(first.toSorted()).toEqual(['100.jpg', '101.jpg', '102.jpg'])
    await page.evaluate(`document.querySelector('.rows').scrollTop = 1e6`)
    await expect.poll(() => over.toSorted()).toEqual(first.toSorted())
    await expect.poll(() => asked.size).toBe(6)
    held.resolve()
    await sizeOf(pictureOf(page, `${count + 99}.jpg`))
    const late = [...asked].map((name) => Number.parseInt(name, 10)).filter((at) => at > 102)
    // Five in a row, and a few rows: what lies between was never asked for.
    expect(Math.min(...late)).toBeGreaterThan(count + 99 - 30)
  })

  it('reads a photo once, also if it is scrolled past and back while it arrives', async () => {
    await fill({})
    for (let at = 100; at < 160; at += 1) {
      await upload(service, { user, name: `${at}.jpg`, content: photos.embedded })
    }
    const page = await visitAs({ browser: browser(), service, user })
    await page.evaluate(`((fetch) => {
      const { promise, resolve } = Promise.withResolvers()
      window.release = resolve
      window.arriving = 0
      window.fetch = async (...sent) => {
        const response = await fetch(...sent)
        const arrived = response.arrayBuffer.bind(response)
        response.arrayBuffer = async () => {
          window.arriving += 1
          await promise
          return await arrived()
        }
        return response
      }
    })(fetch)`)
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('.jpg')) asked.push(nameIn(request.url()))
    })
    await page.getByRole('button', { name: 'Show as a grid' }).click()
    await expect.poll(() => page.evaluate('window.arriving')).toBe(3)
    await page.evaluate(`document.querySelector('.rows').scrollTop = 1e6`)
    await page.getByRole('gridcell', { name: '159.jpg' }).waitFor()
    await page.evaluate(`document.querySelector('.rows').scrollTop = 0`)
    await page.getByRole('gridcell', { name: '100.jpg' }).waitFor()
    await page.evaluate('window.release()')
    await sizeOf(pictureOf(page, '104.jpg'))
    expect(asked).toEqual([...new Set(asked)])
  })

  it('is gone through by keys in both directions, and opens, renames and deletes what has the focus', async () => {
    await fill(
      Object.fromEntries('a b c d e f g h i j k l'.split(' ').map((name) => [`${name}.txt`, 'x'])),
    )
    const page = await visitAs({ browser: browser(), service, user })
    await page.getByRole('button', { name: 'Show as a grid' }).click()
    const focused = async () => {
      const tile = `document.activeElement.closest('.tile')`
      const text = String(await page.evaluate(`${tile}?.textContent`))
      return text.slice(0, 1)
    }
    await page.locator('.tile').first().focus()
    for (const [key, name] of [
      ['ArrowRight', 'b'],
      ['ArrowDown', 'g'],
      ['ArrowLeft', 'f'],
      ['ArrowUp', 'a'],
      ['End', 'l'],
      ['Home', 'a'],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(focused).toBe(name)
    }
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'a.txt' }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe('a')
    await page.keyboard.press('F2')
    await page.getByRole('dialog', { name: 'Rename' }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe('a')
    await page.keyboard.press('Delete')
    await expect.poll(focused).toBe('b')
    await page.evaluate(`document.documentElement.dir = 'rtl'`)
    await page.keyboard.press('ArrowLeft')
    await expect.poll(focused).toBe('c')
  })
})

/** The natural size, once the image is shown. */
async function sizeOf(image: ReturnType<Page['locator']>): Promise<unknown> {
  await image.waitFor()
  const selector = JSON.stringify(`img[src="${await image.getAttribute('src')}"]`)
  return image.page().evaluate(`(async () => {
    const shown = document.querySelector(${selector})
    await shown.decode()
    return [shown.naturalWidth, shown.naturalHeight]
  })()`)
}

/** The versions that the browser keeps thumbnails of. */
async function keptIn(page: Page): Promise<readonly string[]> {
  return (await page.evaluate(`(async () => {
    const [{ name }] = await indexedDB.databases()
    const open = indexedDB.open(name)
    await new Promise((resolve) => (open.onsuccess = resolve))
    const keys = open.result.transaction('thumbnails').objectStore('thumbnails').getAllKeys()
    await new Promise((resolve) => (keys.onsuccess = resolve))
    open.result.close()
    return keys.result
  })()`)) as readonly string[]
}

function nameIn(url: string): string {
  return decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '')
}

/** Counts the bytes of responses by the file that was read. */
function countBytes(page: Page) {
  const sizes: Promise<readonly [name: string, bytes: number]>[] = []
  page.on('requestfinished', (request) => {
    const name = nameIn(request.url())
    sizes.push(request.sizes().then(({ responseBodySize }) => [name, responseBodySize] as const))
  })
  return {
    async of(name: string): Promise<number> {
      const all = await Promise.all(sizes)
      return all.reduce((sum, [of, bytes]) => sum + (of === name ? bytes : 0), 0)
    },
  }
}
