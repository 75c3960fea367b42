import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { startBrowser } from '../support/http/browser.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { buildOperatorPage, buildPage } from '../support/http/page.ts'
import type { TestService } from '../support/service/test-service.ts'
import { type Landscape, paintLandscapes } from './landscapes.ts'
import { takeOperatorPictures } from './operator/pictures.ts'

// `npm run pictures`: takes the pictures of the documents anew, of a repository with these files and devices.

const FOLDER = 'docs/images'
const MIB = 2 ** 20
const HOUR_MS = 3_600_000

/** In MiB. */
const FILES = {
  'Documents›Contract (signed).pdf': 0.4,
  'Documents›Tax›Return 2026.pdf': 1.1,
  'Music›Interview.flac': 21,
  'First steps.mp4': 58,
  'Garden plan.pdf': 1.1,
  'Tax 2026.zip': 9.5,
  'notes.md': 0.01,
} as const

/** In MiB; uploaded for the picture in dark colors. */
const NEW_FILES = {
  'Sunset.jpg': 2,
  'Birthday.mov': 14,
  'Wedding.mov': 60,
  'notes.md': 0.001,
} as const

const PHOTOS: Readonly<Record<string, Landscape>> = {
  'Italy 2026›Harbour.jpg': { kind: 'sea', hue: 205 },
  'Alps from the hut.jpg': { kind: 'mountains', hue: 210 },
  'Beach at dawn.jpg': { kind: 'sea', hue: 235 },
  'Evening by the lake.jpg': { kind: 'mountains', hue: 285 },
  'Flowers in May.jpg': { kind: 'meadow', hue: 205 },
  'Fog in the forest.jpg': { kind: 'forest', hue: 200 },
  'Full moon.jpg': { kind: 'night', hue: 225 },
  'Old town, at night.jpg': { kind: 'city', hue: 250 },
  'Ridge in autumn.jpg': { kind: 'mountains', hue: 20 },
  'Spruces.jpg': { kind: 'forest', hue: 40 },
}

const DEVICES = { 'Living room camera': 'camera-2', 'Front door': 'doorbell-1' } as const

await mkdir(FOLDER, { recursive: true })
const adminToken = 'the-admin-token-of-the-pictures'
const service = await openEmbedded({
  page: await buildPage(),
  operatorPage: await buildOperatorPage(),
  adminToken,
  baseCapacity: 64 * MIB,
  historyLifetimeMs: 30 * 24 * HOUR_MS,
})
const browser = await startBrowser()
try {
  const secret = await seed(service, browser)
  const light = await openPage(secret, 'light')
  await light.getByRole('button', { name: 'Show as a grid' }).click()
  await light.locator('.tile img').nth(8).waitFor()
  await shoot(light, 'page-light')
  await light.getByRole('gridcell', { name: 'Evening by the lake.jpg' }).click()
  await light.locator('.viewer img').waitFor()
  await shoot(light, 'viewer')
  await light.context().close()
  const dark = await openPage(secret, 'dark')
  const folder = await fill(dark)
  await shoot(dark, 'page-dark')
  await dark.context().close()
  await rm(folder, { recursive: true })
  await takeOperatorPictures({ browser, service, adminToken, folder: FOLDER })
} finally {
  await browser.close()
  await service.stop()
}

async function openPage(secret: string, colorScheme: 'light' | 'dark'): Promise<Page> {
  const viewport = { width: 1200, height: 720 }
  const context = await browser.newContext({ colorScheme, viewport })
  const page = await context.newPage()
  await page.route(/\/users\/me\/repo\?/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: aged((await response.json()) as Listing) })
  })
  await page.goto(`${service.url}/#access_token=${secret}`)
  await page.getByText('notes.md').waitFor()
  return page
}

interface Listing {
  readonly files: readonly { readonly updated_at: string }[]
}

/** The listing as if its files had been uploaded in the course of some weeks. */
function aged(listing: Listing): Listing {
  const files = listing.files.map((file, at) => {
    const hours = (at * 37) % 500
    const changed = new Date(Date.parse(file.updated_at) - hours * HOUR_MS)
    return { ...file, updated_at: changed.toISOString() }
  })
  return { ...listing, files }
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(500)
  await page.screenshot({ path: `${FOLDER}/${name}.png` })
}

/** Makes the user with these files, and returns their access token. */
async function seed(service: TestService, browser: Browser): Promise<string> {
  const { users, accessTokens } = service
  const userId = parseUserId('alex')
  await users.createUser(userId)
  const period = { startsAt: undefined, endsAt: undefined }
  for (const [reference, model] of Object.entries(DEVICES)) {
    const grant = { source: 'device', reference, model, bytes: 32 * MIB, ...period }
    await users.putGrant({ userId, ...grant })
  }
  const { secret } = await accessTokens.issue({ userId, label: '', expiresInSeconds: undefined })
  for (const [name, size] of Object.entries(FILES)) {
    await put(service, { secret, name, content: Buffer.alloc(size * MIB) })
  }
  const photos = await paintLandscapes(browser, Object.values(PHOTOS))
  for (const [at, name] of Object.keys(PHOTOS).entries()) {
    const query = name === 'Beach at dawn.jpg' ? '?visibility=public' : ''
    await put(service, { secret, name, query, content: photos[at] ?? Buffer.alloc(0) })
  }
  return secret
}

interface NewFile {
  readonly secret: string
  readonly name: string
  readonly query?: string
  readonly content: Buffer
}

async function put({ url }: TestService, file: NewFile): Promise<void> {
  const { secret, name, query = '', content } = file
  const reply = await fetch(`${url}/users/me/repo/${encodeURIComponent(name)}${query}`, {
    method: 'PUT',
    headers: { cookie: `access_token=${secret}` },
    body: new Uint8Array(content),
  })
  if (!reply.ok) throw new Error(await reply.text())
}

/** Uploads more than fits, slowly enough for a picture. Returns the folder of the files. */
async function fill(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 4 * MIB,
  })
  const folder = await mkdtemp(join(tmpdir(), 'pictures-'))
  for (const [name, size] of Object.entries(NEW_FILES)) {
    await using file = await open(join(folder, name), 'w')
    await file.truncate(Math.ceil(size * MIB))
  }
  const paths = Object.keys(NEW_FILES).map((name) => join(folder, name))
  await page.locator('[data-picker=files]').setInputFiles(paths)
  await page.getByText('would fit').waitFor()
  await page.getByText(/^[5-9](\.\d)? MiB of 14 MiB/).waitFor()
  return folder
}
