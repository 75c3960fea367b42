import { pino } from 'pino'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectUntouched, MIB, type Placed, placeFile } from '../http/fixture.ts'
import { startLenientBrowser, whyNoBrowser } from '../support/http/browser.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { startWebSite, type WebSite } from '../support/http/web-site.ts'
import { ALL_WORKS, type Report, useRepository } from './app-page.ts'
import { ATTACKS, type Attack } from './attacks.ts'
import { isSkipped } from '../support/servers/needs.ts'

const skipped = isSkipped(await whyNoBrowser())

/** To the service on 127.0.0.1 a page of another port is of the same site, and one of localhost is not. */
const HOSTS = ['sameSite', 'crossSite'] as const

describe.skipIf(skipped)('in a browser, a page', () => {
  let browser: Awaited<ReturnType<typeof startLenientBrowser>>
  let app: WebSite
  let stranger: WebSite
  let service: TestService
  let placed: Placed
  let context: BrowserContext
  let page: Page
  /** What the service answered, by its log: a browser tells of no answer that it keeps from the page. */
  const answers: number[] = []

  beforeAll(async () => {
    browser = await startLenientBrowser()
    context = browser.context
    app = await startWebSite(PAGE)
    stranger = await startWebSite(PAGE)
    const write = (line: string): void => {
      const { msg, status } = JSON.parse(line) as { msg: string; status: number }
      if (msg === 'request finished') answers.push(status)
    }
    const logger = pino({}, { write })
    service = await openEmbedded({ allowedOrigins: [app.sameSite, app.crossSite], logger })
  })
  afterAll(async () => {
    await browser?.stop()
    await Promise.all([service?.stop(), app?.stop(), stranger?.stop()])
  })
  beforeEach(async () => {
    placed = await placeFile(service, { capacity: MIB })
    await giveCookie(placed.user, 'None')
    page = await context.newPage()
  })
  afterEach(async () => {
    await Promise.all(context.pages().map((each) => each.close()))
    await context.clearCookies()
  })

  async function giveCookie(user: TestUser, sameSite: 'None' | 'Strict'): Promise<void> {
    const [name = '', value = ''] = user.cookie.split('=')
    const cookie = {
      name,
      value,
      url: service.url.replace('http:', 'https:'),
      httpOnly: true,
      sameSite,
    }
    await context.addCookies([{ ...cookie, secure: sameSite === 'None' }])
  }

  describe.each(HOSTS)('on the other origin %s', (host) => {
    it('an allowed page does all that a client does', async () => {
      await page.goto(app[host])
      expect(await page.evaluate<Report>(useRepository(service.url))).toEqual(ALL_WORKS)
      await expectUntouched(service, placed)
    })

    it('a page that is not allowed reads nothing and changes nothing (I2)', async () => {
      await page.goto(stranger[host])
      const reports = await page.evaluate<Report>(useRepository(service.url))
      const failed = Object.keys(ALL_WORKS).map((step) => [step, { error: 'TypeError' }])
      expect(reports).toEqual(Object.fromEntries(failed))
      await expectUntouched(service, placed)
    })

    it.each(Object.entries(ATTACKS))(
      'a page that is not allowed writes nothing by %s (I2)',
      async (...row) => {
        const [, attack] = row
        const statuses = await run(attack, stranger[host])
        const others = statuses.filter((status) => status !== (attack.refusal ?? status))
        expect(others).toEqual([])
        await expectUntouched(service, placed)
      },
    )

    it.each(Object.entries(ATTACKS).filter(([, { works }]) => works))(
      'an allowed page writes by %s, so the other one was refused for what it is',
      async (...row) => {
        const [, attack] = row
        expect(await run(attack, app[host])).toContain(200)
      },
    )
  })

  it('an allowed page of another site is nobody with a cookie that is for its own site alone', async () => {
    await context.clearCookies()
    await giveCookie(placed.user, 'Strict')
    await page.goto(app.crossSite)
    const reports = await page.evaluate<Report>(useRepository(service.url))
    expect(reports['form']).toMatchObject({ status: 403, code: 'access_token_missing' })
    await page.goto(app.sameSite)
    expect(await page.evaluate<Report>(useRepository(service.url))).toEqual(ALL_WORKS)
  })

  it('a page in a sandbox has the origin null, which no list has', async () => {
    await page.goto(app.sameSite)
    await page.setContent('<iframe sandbox="allow-scripts" srcdoc="<p>sandbox</p>"></iframe>')
    const frame = await (await page.waitForSelector('iframe')).contentFrame()
    const reports = await frame?.evaluate<Report>(useRepository(service.url))
    expect(reports?.['form']).toEqual({ error: 'TypeError' })
    await expectUntouched(service, placed)
  })

  /** Runs an attack from a page of `origin`; resolves with the statuses of the service's answers. */
  async function run(attack: Attack, origin: string): Promise<number[]> {
    await page.goto(origin)
    answers.length = 0
    const target = `${service.url}/users/me/repo/${placed.name}`
    await page.evaluate(attack.script(target)).catch(ignoreNavigation)
    await expect
      .poll(() => answers.length, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(attack.requests)
    return [...answers]
  }
})

/** A page that goes somewhere else takes along the script that sent it there. */
function ignoreNavigation(error: Error): void {
  if (!/navigat|context was destroyed/.test(error.message)) throw error
}

const PAGE = '<!doctype html><title>A page</title><body></body>'
