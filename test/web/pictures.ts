import { mkdir } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { startBrowser } from '../support/http/browser.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { buildOperatorPage, buildPage } from '../support/http/page.ts'
import type { TestService } from '../support/service/test-service.ts'
import { takeOperatorPictures } from './operator/pictures.ts'

// `npm run pictures`: takes the pictures of README anew, of a repository with these files and devices.

const FOLDER = 'docs/images'
const MIB = 2 ** 20

const FILES = {
  'Beach at dawn.jpg': 4.2,
  'Contract (signed).pdf': 0.4,
  'First steps.mp4': 60,
  'Garden - plan.pdf': 1.1,
  'Garden - roses.jpg': 3.7,
  'Interview.flac': 21,
  'Tax 2026.zip': 9.5,
  'notes.md': 0.01,
  'recipes.txt': 0.02,
} as const

const DEVICES = { 'Living room camera': 'camera-2', 'Front door': 'doorbell-1' } as const

await mkdir(FOLDER, { recursive: true })
const adminToken = 'the-admin-token-of-the-pictures'
const service = await openEmbedded({
  page: await buildPage(),
  operatorPage: await buildOperatorPage(),
  adminToken,
  baseCapacity: 64 * MIB,
})
const browser = await startBrowser()
try {
  const secret = await seed(service)
  for (const colorScheme of ['light', 'dark'] as const) {
    const viewport = { width: 1200, height: 720 }
    const context = await browser.newContext({ colorScheme, viewport })
    const page = await context.newPage()
    await page.goto(`${service.url}/#access_token=${secret}`)
    await page.getByText('notes.md').waitFor()
    if (colorScheme === 'dark') await fill(page)
    await page.waitForTimeout(500)
    await page.screenshot({ path: `${FOLDER}/page-${colorScheme}.png` })
    await context.close()
  }
  await takeOperatorPictures({ browser, service, adminToken, folder: FOLDER })
} finally {
  await browser.close()
  await service.stop()
}

/** Makes the user, and returns their access token. */
async function seed({ url, users, accessTokens }: TestService): Promise<string> {
  const userId = parseUserId('alex')
  await users.createUser(userId)
  const period = { startsAt: undefined, endsAt: undefined }
  for (const [reference, model] of Object.entries(DEVICES)) {
    const grant = { source: 'device', reference, model, bytes: 32 * MIB, ...period }
    await users.putGrant({ userId, ...grant })
  }
  const { secret } = await accessTokens.issue({ userId, label: '', expiresInSeconds: undefined })
  for (const [name, size] of Object.entries(FILES)) {
    const reply = await fetch(`${url}/users/me/repo/${encodeURIComponent(name)}`, {
      method: 'PUT',
      headers: { cookie: `access_token=${secret}` },
      body: Buffer.alloc(size * MIB),
    })
    if (!reply.ok) throw new Error(await reply.text())
  }
  return secret
}

/** Uploads more than fits, slowly enough for a picture. */
async function fill(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 4 * MIB,
  })
  const type = { mimeType: 'application/octet-stream' }
  await page.locator('[data-picker=files]').setInputFiles([
    { name: 'Sunset.jpg', ...type, buffer: Buffer.alloc(2 * MIB) },
    { name: 'Birthday.mov', ...type, buffer: Buffer.alloc(14 * MIB) },
    { name: 'Wedding.mov', ...type, buffer: Buffer.alloc(29 * MIB) },
    { name: 'notes.md', ...type, buffer: Buffer.alloc(900) },
  ])
  await page.getByText('would fit').waitFor()
  await page.getByText(/^[5-9](\.\d)? MiB of 14 MiB/).waitFor()
}
