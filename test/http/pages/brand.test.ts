import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Brand, brandPages } from '../../../src/http/pages/brand.ts'
import { languagesOf, type Pages } from '../../../src/http/pages/open-pages.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { buildLinkPage, buildOperatorPage, buildPage } from '../../support/http/page.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { createLink } from '../links/link-requests.ts'
import { download, type Reply, secretOf } from '../fixture.ts'

const UNSET: Brand = {
  name: undefined,
  logo: undefined,
  color: undefined,
  links: [],
  language: undefined,
}

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>'

const BRAND: Brand = {
  name: 'A "$&" <b> & Co',
  logo: { format: 'svg', bytes: Buffer.from(SVG) },
  color: '#0a6f50',
  links: [['<Imprint>', 'https://contoso.example/?a=1&b="2"']],
  language: 'de',
}

let built: Pages
beforeAll(async () => {
  built = {
    user: await buildPage(),
    operator: await buildOperatorPage(),
    link: await buildLinkPage(),
  }
})

describe('the pages of a build', () => {
  it('are in English and in German', () => {
    expect(languagesOf(built.user)).toEqual(['en', 'de'])
  })

  it('stay byte for byte what they are without a setting', async () => {
    expect(await brandPages(built, UNSET)).toBe(built)
  })

  it.each<[keyof Brand, Partial<Brand>]>([
    ['name', { name: 'Contoso' }],
    ['color', { color: '#0a6f50' }],
    ['links', { links: [['Help', 'mailto:a@b']] }],
    ['language', { language: 'en' }],
  ])('have a %s with nothing else set', async (_member, brand) => {
    const { user, assets } = await documentsOf({ ...UNSET, ...brand })
    expect(metaOf(user)).toEqual(brand)
    expect(assets).toEqual([...built.user.assets.keys()])
  })

  it('have all of it in each document, as text', async () => {
    for (const html of Object.values((await documentsOf(BRAND)).all)) {
      expect(html).toContain('<html lang="de">')
      expect(html).toMatch(/<title>A &quot;\$&amp;&quot; &lt;b&gt; &amp; Co(: administration)?</)
      expect(metaOf(html)).toMatchObject({
        name: BRAND.name,
        links: BRAND.links,
        language: 'de',
        color: '#0a6f50',
      })
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|<base|<b>/i)
      expect(html).toMatch(
        /<link rel="icon" href="\.\.?\/assets\/logo-[\w-]{22}\.svg" type="image\/svg\+xml"/,
      )
    }
  })
})

describe('a service with a brand', () => {
  let service: TestService
  beforeAll(async () => {
    const { user, link } = await brandPages(built, BRAND)
    service = await openEmbedded({ page: user, ...(link && { linkPage: link }) })
  })
  afterAll(() => service.stop())

  it.each(['br', 'gzip', undefined])(
    'has it for Accept-Encoding %s, with an etag',
    async (coding) => {
      const headers = coding === undefined ? {} : { 'accept-encoding': coding }
      const reply = await download(service, { path: '/', headers })
      expect(reply.headers['content-encoding']).toBe(coding)
      expect(metaOf(decoded(reply).toString())).toMatchObject({ name: BRAND.name })
      const plain = built.user.document?.contents.get(coding === undefined ? 'identity' : 'br')
      expect(reply.headers['etag']).not.toBe(`"${plain?.etag}"`)
      const known = { ...headers, 'if-none-match': reply.headers['etag'] ?? '' }
      expect((await download(service, { path: '/', headers: known })).status).toBe(304)
    },
  )

  it('serves the logo, in which nothing runs', async () => {
    const html = decoded(await download(service, { path: '/' })).toString()
    const [, path = ''] = /rel="icon" href="\.([^"]+)"/.exec(html) ?? []
    const { status, headers, body } = await download(service, { path })
    expect({ status, body: body.toString() }).toEqual({ status: 200, body: SVG })
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy':
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    })
  })

  it('has it on the page of a link, whose logo is there too', async () => {
    const user = await service.createUser(1000)
    const { secret } = await createLink(service, {
      token: secretOf(user),
      kind: 'drop',
      prefix: '',
    })
    const path = `/links/${secret}`
    const reply = await download(service, { path, headers: { accept: 'text/html' } })
    const html = reply.body.toString()
    expect(metaOf(html)).toMatchObject({ name: BRAND.name })
    const [, icon = ''] = /rel="icon" href="([^"]+)"/.exec(html) ?? []
    const { pathname } = new URL(icon, service.url + path)
    expect((await download(service, { path: pathname })).status).toBe(200)
  })
})

async function documentsOf(brand: Brand) {
  const { user, operator, link } = await brandPages(built, brand)
  const [first = '', ...others] = [user.document, operator.document, link].map((document) =>
    document?.contents.get('identity')?.bytes.toString(),
  )
  return {
    user: first,
    all: [first, ...others.map((html) => html ?? '')],
    assets: [...user.assets.keys()],
  }
}

/** As a browser reads it. */
function metaOf(html: string): Readonly<Record<string, unknown>> {
  const [, content = ''] = /<meta name="brand" content="([^"]*)">/.exec(html) ?? []
  const json = content
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
  return JSON.parse(json) as Readonly<Record<string, unknown>>
}

function decoded({ headers, body }: Reply): Buffer {
  if (headers['content-encoding'] === 'br') return brotliDecompressSync(body)
  return headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
}
