import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Brand, brandPages } from '../../src/http/pages/brand.ts'
import { ADMIN_OPTIONS, ADMIN_TOKEN } from '../http/admin/fixture.ts'
import { upload } from '../http/fixture.ts'
import { buildLinkPage, buildOperatorPage, buildPage } from '../support/http/page.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService } from '../support/service/test-service.ts'
import { createLink } from '../http/links/link-requests.ts'
import { describeInBrowser, names, pick, secretOf, visit } from './fixture.ts'
import { expectSound } from './looks.ts'

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><style>rect{fill:#7a1fa2}</style>' +
  '<rect width="8" height="8"/><script>document.documentElement.id="ran"</script></svg>'

const BRAND: Brand = {
  name: 'Contoso Ablage',
  logo: { format: 'svg', bytes: Buffer.from(LOGO) },
  color: '#ffb300',
  links: [
    ['Impressum', 'https://contoso.example/impressum'],
    ['Datenschutz', 'https://contoso.example/datenschutz'],
  ],
  language: undefined,
}

describeInBrowser('the pages of another product, in German', (browser) => {
  let service: TestService
  beforeAll(async () => {
    const { user, operator, link } = await brandPages(
      {
        user: await buildPage(),
        operator: await buildOperatorPage(),
        link: await buildLinkPage(),
      },
      BRAND,
    )
    const pages = { page: user, operatorPage: operator, linkPage: link }
    service = await openEmbedded({ ...ADMIN_OPTIONS, ...pages })
  })
  afterAll(() => service?.stop())

  async function open(options: {
    readonly path?: string
    readonly url?: string
    readonly locale?: string
  }) {
    const { path = '/', url = service.url, locale = 'de-AT' } = options
    return visit({ browser: browser(), service: { url }, path, locale })
  }

  it('go from signing in to a file that is uploaded, and to what a visitor sees of it', async () => {
    const user = await service.createUser(2 ** 30)
    const page = await open({})
    await page.getByRole('heading', { name: 'Anmelden' }).waitFor()
    expect(await page.getAttribute('html', 'lang')).toBe('de')
    expect(await page.title()).toBe('Contoso Ablage')
    expect(await page.locator('.product-name').textContent()).toBe('Contoso Ablage')
    expect(await page.textContent('main')).not.toContain('crt_')
    expect(await hrefsIn(page)).toEqual(BRAND.links.map(([, url]) => url))
    const fill = 'getComputedStyle(document.querySelector("button[type=submit]")).backgroundColor'
    expect(await page.evaluate(fill)).toBe('rgb(255, 179, 0)')
    await expectSound(page)
    await page.getByLabel('Zugriffstoken', { exact: true }).fill(`crt_${'A'.repeat(43)}`)
    await page.getByRole('button', { name: 'Anmelden' }).click()
    await page.getByText('Dieses Zugriffstoken ist ungültig.').waitFor()
    await page.getByLabel('Zugriffstoken', { exact: true }).fill(secretOf(user))
    await page.getByRole('button', { name: 'Anmelden' }).click()
    await page.getByText('Noch nichts hier').waitFor()
    await pick(page, [{ path: 'Rechnung.pdf', content: 'x'.repeat(1500) }])
    await page.getByRole('heading', { name: '1 Datei hochgeladen' }).waitFor()
    expect(await names(page)).toEqual(['Rechnung.pdf'])
    await page.getByText('1,4 KiB').first().waitFor()
    await expectSound(page)
    await expectSoundLink(secretOf(user))
  })

  async function expectSoundLink(token: string): Promise<void> {
    const { secret } = await createLink(service, { token, kind: 'download', name: 'Rechnung.pdf' })
    const page = await open({ path: `/links/${secret}` })
    await page.getByRole('heading', { name: 'Geteilte Dateien' }).waitFor()
    await page.getByRole('link', { name: 'Rechnung.pdf herunterladen' }).waitFor()
    expect(await page.locator('.product-name').textContent()).toBe('Contoso Ablage')
    await expectSound(page)
  }

  it('show their own words for what the service refuses in English', async () => {
    const user = await service.createUser(1000)
    await upload(service, { user, name: 'a', content: 'x' })
    const page = await open({ path: `/#access_token=${secretOf(user)}` })
    await page.getByText('1 Datei von').waitFor()
    await page.route('**/users/me/repo/a', (route) =>
      route.fulfill({
        status: 400,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'invalid_parameter', detail: 'In English.' }),
      }),
    )
    await page.getByRole('button', { name: 'a löschen' }).click({ force: true })
    const toast = page.getByText('Eine Angabe ist ungültig.')
    expect(await toast.textContent()).toBe('Eine Angabe ist ungültig.')
  })

  it('are for operators too', async () => {
    await service.createUser(2 ** 30)
    const url = `http://127.0.0.1:${service.adminPort}`
    const page = await open({ url })
    await page.getByRole('heading', { name: 'Als Betreiber anmelden' }).waitFor()
    expect(await page.title()).toBe('Contoso Ablage: Verwaltung')
    await page.getByLabel('Token', { exact: true }).fill(ADMIN_TOKEN)
    await page.getByRole('button', { name: 'Anmelden' }).click()
    await page.getByRole('complementary', { name: 'Dienst' }).waitFor()
    await expectSound(page)
  })

  it('show the logo, in which no script runs where it is opened by itself', async () => {
    const page = await open({})
    const mark = page.locator('.mark')
    await mark.waitFor()
    const url = await page.evaluate(
      'getComputedStyle(document.querySelector(".mark")).backgroundImage.slice(5, -2)',
    )
    expect(url).toMatch(/\/assets\/logo-[\w-]+\.svg$/)
    await page.goto(String(url))
    expect(
      await page.evaluate('document.documentElement.tagName + document.documentElement.id'),
    ).toBe('svg')
  })

  it('cost an English visitor nothing, and a German one only the messages', async () => {
    const loaded = { en: await loadedBy('en-GB'), de: await loadedBy('de-DE') }
    expect(loaded.en.others).toEqual([])
    expect(loaded.de.others).toEqual([expect.stringMatching(/^language-de-/)])
  })

  /** The assets that the page loads until it asks to sign in, without those that its document names. */
  async function loadedBy(locale: string): Promise<{ readonly others: readonly string[] }> {
    const page = await open({ path: '/livez', locale })
    const assets: string[] = []
    page.on('request', (request) => {
      const [, name] = /\/assets\/(.+)$/.exec(request.url()) ?? []
      if (name !== undefined) assets.push(name)
    })
    await page.goto(service.url)
    await page.locator('.sign-in').waitFor()
    const document = await (await fetch(service.url)).text()
    return { others: [...new Set(assets)].filter((name) => !document.includes(name)) }
  }
})

function hrefsIn(page: Page): Promise<unknown> {
  return page.evaluate('Array.from(document.querySelectorAll(".product-links a"), (a) => a.href)')
}
