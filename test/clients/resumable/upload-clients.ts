import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { secretOf } from '../../http/fixture.ts'
import { startBrowser } from '../../support/http/browser.ts'
import type { WebSite } from '../../support/http/web-site.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import type { TestUser } from '../../support/service/test-service.ts'
import { build, type ClientProgram, runClient, whyNot } from '../programs.ts'
import { UPLOAD_PAGE } from './programs.ts'

/** Uploads a file; rejects unless the client says that it is stored. */
type Send = (file: { readonly path: string; readonly name: string }) => Promise<void>

interface Surroundings {
  /** Of the service. */
  readonly url: string
  readonly user: TestUser
  /** Serves the page. */
  readonly site: WebSite
}

/** What a proof needs to know of a client that resumes uploads. */
export interface UploadClient {
  readonly title: string
  readonly isSkipped: boolean
  /** Prepares it; `opened` ends it. */
  readonly open: (opened: AsyncDisposableStack, at: Surroundings) => Promise<Send>
}

/** For one file, on a machine that does much else. */
export const TIMEOUT_MS = 600_000

export async function programClient(program: ClientProgram): Promise<UploadClient> {
  return {
    title: program.title,
    isSkipped: isSkipped(await whyNot(program)),
    async open(opened, { url, user }) {
      const folder = await temporaryFolder(opened)
      await build(program, folder)
      const environment = { BASE_URL: url, ACCESS_TOKEN: secretOf(user) }
      return async ({ path, name }) => {
        const run = { folder, args: [path, name], environment, timeoutMs: TIMEOUT_MS }
        const { code, stderr } = await runClient(program, run)
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      }
    },
  }
}

/** The page with its script in it, for the service that its query names. */
export async function readUploadPage(): Promise<string> {
  const page = await readFile(UPLOAD_PAGE, 'utf8')
  const library = await readFile('node_modules/tus-js-client/dist/tus.min.js', 'utf8')
  return page
    .replace('<script src="tus.min.js"></script>', () => `<script>${library}</script>`)
    .replace(`'http://127.0.0.1:3000'`, `new URLSearchParams(location.search).get('service')`)
}

/** Opens the page of `readUploadPage`, which the site serves. */
export const openUploadPage: UploadClient['open'] = async (opened, { url, user, site }) => {
  const browser = await startBrowser()
  opened.defer(() => browser.close())
  const context = await browser.newContext()
  const cookie = { name: 'access_token', value: secretOf(user), url }
  await context.addCookies([{ ...cookie, httpOnly: true, sameSite: 'Strict' }])
  const page = await context.newPage()
  await page.goto(`${site.sameSite}/?service=${encodeURIComponent(url)}`)
  return async ({ path, name }) => {
    await page.locator('#upload').setInputFiles(path)
    const message = page.locator('#message')
    await expect
      .poll(() => message.textContent(), { timeout: TIMEOUT_MS })
      .toMatch(/^(Not u|U)ploaded/)
    expect(await message.textContent()).toBe(`Uploaded ${name}.`)
  }
}
