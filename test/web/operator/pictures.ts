import { setTimeout } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { type UserId, parseUserId } from '../../../src/core/users/user-id.ts'
import type { TestService } from '../../support/service/test-service.ts'

const MIB = 2 ** 20

/** The MiB that each of the users has stored, of 64. */
const USERS = {
  amira: 11,
  'ben-1987': 58,
  chloe: 3,
  dmitri: 63,
  farah: 24,
  george: 41,
  'home-office-7': 30,
} as const

type Name = keyof typeof USERS

/** How many MiB are uploaded in each step of a busy while. */
const BUSY = [2, 5, 9, 7, 3, 12, 8, 4, 5] as const

const STEP_MS = 3_000

const DAY_MS = 24 * 3_600_000

export interface OperatorPictures {
  readonly browser: Browser
  readonly service: TestService
  readonly adminToken: string
  readonly folder: string
}

/** Takes pictures of the operator's page after a busy while: of the overview in light, of one user in dark. */
export async function takeOperatorPictures(options: OperatorPictures): Promise<void> {
  const { browser, service, adminToken, folder } = options
  const secrets = await seed(service)
  const context = await browser.newContext({ viewport: { width: 1200, height: 790 } })
  const page = await context.newPage()
  await page.route('**/admin/overview', async (route) => {
    const response = await route.fetch()
    const overview = (await response.json()) as Overview
    await route.fulfill({ response, json: { ...overview, growth: growthUpTo(overview) } })
  })
  await page.goto(`http://127.0.0.1:${service.adminPort}/`)
  await page.getByLabel('Admin token', { exact: true }).fill(adminToken)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('region', { name: 'Largest users' }).waitFor()
  await work(service, secrets)
  await page.getByText(/× capacity_exceeded/).waitFor()
  await shoot(page, { path: `${folder}/operator-light.png`, colorScheme: 'light' })
  await page.getByRole('link', { name: 'farah' }).first().click()
  await page.getByText('doorbell-1').waitFor()
  await shoot(page, { path: `${folder}/operator-dark.png`, colorScheme: 'dark' })
  await context.close()
}

async function shoot(
  page: Page,
  { path, colorScheme }: { readonly path: string; readonly colorScheme: 'light' | 'dark' },
): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.waitForTimeout(500)
  await page.screenshot({ path })
}

interface Overview {
  readonly users: { readonly active: number; readonly suspended: number }
  readonly files: number
  readonly used: number
}

/** As if the service had run for 30 days. */
function growthUpTo({ users, files, used }: Overview) {
  const all = users.active + users.suspended
  return Array.from({ length: 30 }, (_, day) => {
    const share = (day + 1) / 31
    const bend = share ** 1.4 + 0.03 * Math.sin(day)
    const date = new Date(Date.now() - (30 - day) * DAY_MS).toISOString().slice(0, 10)
    return {
      date,
      users: Math.ceil(all * Math.min(1, share * 1.1)),
      files: Math.round(files * share ** 1.2),
      used: Math.round(used * (0.15 + 0.8 * bend)),
    }
  })
}

/** Makes the users, and returns their access tokens. */
async function seed(service: TestService): Promise<Record<Name, string>> {
  const secrets: Partial<Record<Name, string>> = {}
  for (const name of Object.keys(USERS) as Name[]) {
    const userId = parseUserId(name)
    await service.users.createUser(userId)
    const secret = await issue(service, userId)
    await upload(service, { secret, name: 'Pictures.zip', size: USERS[name] })
    secrets[name] = secret
  }
  const userId = parseUserId('farah')
  const grant = { bytes: 32 * MIB, startsAt: undefined, endsAt: undefined }
  const device = { userId, source: 'device', reference: 'Front.door', model: 'doorbell-1' }
  await service.users.putGrant({ ...device, ...grant })
  const promotion = { userId, source: 'promotion', reference: 'spring', model: undefined }
  await service.users.putGrant({ ...promotion, ...grant })
  await service.users.setUserStatus(parseUserId('george'), 'suspended')
  return secrets as Record<Name, string>
}

async function issue({ accessTokens }: TestService, userId: UserId): Promise<string> {
  const terms = { userId, label: 'phone', expiresInSeconds: 30 * 24 * 3600 }
  return (await accessTokens.issue(terms)).secret
}

/** Uploads for a while, now and then more than fits. */
async function work(service: TestService, { chloe, dmitri }: Record<Name, string>): Promise<void> {
  for (const size of BUSY) {
    const step = setTimeout(STEP_MS)
    await upload(service, { secret: chloe, name: 'film.mp4', size })
    if (size > 6) await upload(service, { secret: dmitri, name: 'one more.mov', size })
    await step
  }
}

async function upload(
  { url }: TestService,
  { secret, name, size }: { readonly secret: string; readonly name: string; readonly size: number },
): Promise<void> {
  const reply = await fetch(`${url}/users/me/repo/${encodeURIComponent(name)}`, {
    method: 'PUT',
    headers: { cookie: `access_token=${secret}` },
    body: Buffer.alloc(size * MIB),
  })
  await reply.arrayBuffer()
}
