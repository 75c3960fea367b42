import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ERROR_CODES } from '../../src/core/error-codes.ts'
import { docsPage } from '../../web/docs/page.ts'
import { SECURITY_HEADERS } from '../../src/http/headers/security-headers.ts'
import type { Json } from '../../src/http/openapi/operation.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { startService } from '../support/service/running-service.ts'
import { buildDocs, NO_BUILD } from '../support/http/page.ts'
import type { TestService } from '../support/service/test-service.ts'
import { ask, expectProblem } from '../http/fixture.ts'

const ADMIN_TOKEN = 'the-admin-token-of-the-docs'

interface Document extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: Readonly<Record<string, Json>>
}

let service: TestService

beforeAll(async () => {
  service = await openEmbedded({
    adminToken: ADMIN_TOKEN,
    page: NO_BUILD,
    operatorPage: NO_BUILD,
    ...(await buildDocs()),
  })
})
afterAll(() => service?.stop())

describe.each(['public', 'admin'] as const)('the page of the %s API', (kind) => {
  let page: string
  let document: Document

  beforeAll(async () => {
    const url = kind === 'public' ? service.url : `http://127.0.0.1:${service.adminPort}`
    const headers = kind === 'public' ? {} : { authorization: `Bearer ${ADMIN_TOKEN}` }
    const read = (path: string): Promise<Response> => fetch(url + path, { headers })
    page = await (await read('/docs')).text()
    document = (await (await read('/openapi.json')).json()) as Document
  })

  it('has every operation of the document, with its parameters and answers', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    expect(operations.length).toBeGreaterThan(15)
    for (const { path, method, operation } of operations) {
      const { operationId, parameters = [], responses } = operation
      const named = (parameters as { name: string }[]).map(({ name }) => `<code>${name}</code>`)
      const statuses = Object.keys(responses as Json)
      const shown = [
        `>${method.toUpperCase()}</span> <code>${path}</code>`,
        ...named,
        ...statuses.map((status) => `<h4>${status}</h4>`),
      ]
      const section = sectionOf(page, String(operationId))
      expect(shown.filter((piece) => !section.includes(piece))).toEqual([])
    }
  })

  it('has every code, schema and header, and what each means', () => {
    const { examples = {}, schemas = {}, headers = {} } = document.components
    for (const code of ERROR_CODES) {
      const { summary } = examples[code] as { readonly summary: string }
      expect(page).toContain(`<code id="problem-${code}">${code}</code>`)
      expect(textOf(page)).toContain(summary.replaceAll('`', ''))
    }
    for (const name of Object.keys(schemas)) {
      expect(page).toContain(`id="schema-${name}"`)
    }
    for (const name of Object.keys(headers)) {
      expect(page).toContain(`id="header-${name}"`)
    }
  })

  it('says of which type each member is', () => {
    const rows = [...page.matchAll(/<th scope="row">(.*?)<\/th>\s*<td>(.*?)<\/td>/gs)]
    expect(rows.length).toBeGreaterThan(100)
    expect(rows.filter(([, , type = '']) => /^(array of )?$/.test(type))).toEqual([])
  })

  it('links to nothing that is not there, and names nothing twice', () => {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(ids).toEqual([...new Set(ids)])
    const links = [...page.matchAll(/ href="([^"]*)"/g)].map(([, href = '']) => href)
    expect(links.length).toBeGreaterThan(50)
    const known = new Set([...ids.map((id) => `#${id}`), 'openapi.json'])
    const icon = /^data:image\/svg\+xml,/
    expect(links.filter((href) => !known.has(href) && !icon.test(href))).toEqual([])
  })
})

describe('the page', () => {
  it('loads nothing, and runs its own script alone, in a sandbox without an origin', async () => {
    const reply = await fetch(`${service.url}/docs`)
    const page = await reply.text()
    const [, style = '', script = ''] =
      /<style>(.*?)<\/style><script>(.*?)<\/script>\s*<\/head>/s.exec(page) ?? []
    const { 'content-security-policy': _inert, ...others } = SECURITY_HEADERS
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      ...others,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "sandbox allow-scripts; default-src 'none'; frame-ancestors 'none'; base-uri 'none'; img-src data:; " +
        `style-src ${sourceOf(style)}; script-src ${sourceOf(script)}; ` +
        "require-trusted-types-for 'script'; trusted-types 'none'",
    })
    const rest = page.replace(style, '').replace(script, '')
    expect(rest.split('<script')).toHaveLength(2)
    expect(rest.split('</html>')).toHaveLength(2)
    expect(rest).not.toMatch(/ on\w+=| style=| src=/)
    const addresses = rest.match(/https?:[^<"' ]*/g)
    expect(new Set(addresses)).toEqual(
      new Set(['http://127.0.0.1:3000', 'http://www.w3.org/2000/svg']),
    )
  })

  it('the page of the admin API is not for those without the token', async () => {
    expect((await fetch(`http://127.0.0.1:${service.adminPort}/docs`)).status).toBe(401)
  })

  it('stands under the base path, and refers to what is beside it', async () => {
    const prefixed = await openEmbedded({ basePath: '/api/v1', ...(await buildDocs()) })
    try {
      const reply = await fetch(`${prefixed.url}/api/v1/docs`)
      const [, href = ''] = /href="([^"#:]+)"/.exec(await reply.text()) ?? []
      expect(new URL(href, reply.url).pathname).toBe('/api/v1/openapi.json')
      expect((await fetch(`${prefixed.url}/docs`)).status).toBe(404)
    } finally {
      await prefixed.stop()
    }
  })

  it('comes compressed, and not again to who has it', async () => {
    const headers = { 'accept-encoding': 'br' }
    const reply = await fetch(`${service.url}/docs`, { headers })
    expect(reply.headers.get('content-encoding')).toBe('br')
    expect(await reply.text()).toMatch(/^<!doctype html>/)
    const known = { ...headers, 'if-none-match': reply.headers.get('etag') ?? '' }
    expect((await fetch(`${service.url}/docs`, { headers: known })).status).toBe(304)
  })

  it('is not there without a build', async () => {
    const without = await openEmbedded()
    try {
      expectProblem(await ask(without, { path: '/docs' }), { status: 404, code: 'not_found' })
    } finally {
      await without.stop()
    }
  })

  it('escapes whatever a document says', () => {
    const hostile = `<img src=x onerror="alert('1')">&`
    const document = {
      info: { title: hostile, description: `${hostile} \`${hostile}\``, version: hostile },
      tags: [{ name: 'files', description: `- \`code\`: ${hostile}` }],
      paths: { [hostile]: { get: operationOf(hostile) } },
      components: {
        schemas: {
          Thing: { description: hostile, properties: { [hostile]: { enum: [hostile] } } },
        },
        responses: {},
        headers: { Thing: { description: hostile, schema: { pattern: hostile } } },
        examples: { thing: { summary: hostile, value: { status: 400, [hostile]: 1 } } },
        securitySchemes: { [hostile]: { description: hostile } },
      },
    }
    const page = docsPage(document, { style: '', script: '', icon: '', address: 'http://a.test' })
    expect(page).not.toContain('<img')
    expect(page).not.toContain('"alert')
    const escaped = '&#60;img src=x onerror=&#34;alert(&#39;1&#39;)&#34;&#62;&#38;'
    expect(page.split(escaped).length).toBeGreaterThan(20)
  })
})

describe('API_DOCS', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())

  it.each([
    ['false', 404],
    ['true', 200],
  ])('API_DOCS of %s has the page and the document answer %i', async (setting, status) => {
    const environment = { API_DOCS: setting, WEB_PAGE: 'false' }
    const { url } = await startService({ environment, opened })
    for (const path of ['/docs', '/openapi.json']) {
      expect((await fetch(url + path)).status).toBe(status)
    }
    expect((await fetch(`${url}/livez`)).status).toBe(200)
  })
})

function operationOf(text: string): Json {
  return {
    operationId: 'getThing',
    summary: text,
    description: text,
    tags: ['files'],
    security: [{ [text]: [] }],
    parameters: [
      { name: text, in: text, description: text, schema: { type: text, default: text } },
    ],
    responses: { 200: { description: text, content: { [text]: { example: text } } } },
  }
}

function sourceOf(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`
}

/** The element of that id, up to the next section. */
function sectionOf(page: string, id: string): string {
  const start = page.indexOf(` id="${id}"`)
  expect({ id, isThere: start >= 0 }).toEqual({ id, isThere: true })
  const end = page.indexOf('<section', start)
  return page.slice(start, end < 0 ? undefined : end)
}

/** What people read of markup. */
function textOf(markup: string): string {
  return markup
    .replace(/<style>.*<\/script>/s, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)))
}
