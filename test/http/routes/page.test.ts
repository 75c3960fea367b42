import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WebPage } from '../../../src/http/pages/static-assets.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { buildPage, NO_BUILD } from '../../support/http/page.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { OPERATIONS } from '../../catalogue/api-operations.ts'
import { authorized, EVERY_OPERATION, perform } from '../../catalogue/perform.ts'
import { createScene } from '../../catalogue/create-scene.ts'
import { ask, download, expectProblem, placeFile, type Reply } from '../fixture.ts'

const NOT_FOUND = { status: 404, code: 'not_found' } as const

let page: WebPage
beforeAll(async () => {
  page = await buildPage()
})

describe('the page', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openEmbedded({ page })
  })
  afterAll(() => service.stop())

  it('is a document that may do next to nothing, and is asked for anew each time', async () => {
    const { status, headers, body } = await download(service, { path: '/' })
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
    })
    expect(body.toString()).toMatch(/^<!doctype html>/i)
    expect(headers).toMatchObject({
      'cache-control': 'no-cache',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
        "media-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
  })

  it('has nothing in its document that such a policy forbids', async () => {
    const { body } = await download(service, { path: '/' })
    const html = body.toString()
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|<base|https?:/i)
  })

  it('loads assets that are kept for ever, since their names change', async () => {
    const { body } = await download(service, { path: '/' })
    const paths = [...body.toString().matchAll(/"\.(\/assets\/[^"]+)"/g)].map(([, path]) => path)
    expect(paths.length).toBeGreaterThanOrEqual(3)
    for (const path of paths) {
      const { status, headers } = await download(service, { path: path ?? '' })
      expect({ path, status }).toEqual({ path, status: 200 })
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(path).toMatch(/-[\w-]{8}\.(js|css|svg)$/)
    }
  })

  it('takes at most 56 KB of the network for a first visit', async () => {
    const { body } = await download(service, { path: '/' })
    const assets = body.toString().matchAll(/"\.(\/assets\/[^"]+\.(?:css|js))"/g)
    const paths = ['/', ...Array.from(assets, ([, path = '']) => path)]
    const headers = { 'accept-encoding': 'br' }
    const replies = await Promise.all(paths.map((path) => download(service, { path, headers })))
    const bytes = replies.reduce((sum, reply) => sum + reply.body.length, 0)
    console.log(`The first visit takes ${bytes} bytes.`)
    expect(bytes).toBeLessThan(56_000)
  })

  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.1, gzip', 'br'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['br;q=0.0, gzip;q=0', undefined],
    ['identity', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('comes for Accept-Encoding %j as %s', async (accepted, coding) => {
    const plain = await download(service, { path: '/' })
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
    const reply = await download(service, { path: '/', headers })
    expect(reply.headers['content-encoding']).toBe(coding)
    expect(reply.headers['vary']).toContain('Accept-Encoding')
    expect(decoded(reply)).toEqual(plain.body)
    expect(reply.headers['etag'] === plain.headers['etag']).toBe(coding === undefined)
  })

  it('is not sent again to who has it', async () => {
    const { headers } = await download(service, { path: '/' })
    const known = { 'if-none-match': headers['etag'] ?? '' }
    const again = await download(service, { path: '/', headers: known })
    expect({ status: again.status, length: again.body.length }).toEqual({ status: 304, length: 0 })
    expect(again.headers['etag']).toBe(headers['etag'])
    const other = await download(service, { path: '/', headers: { 'if-none-match': '"other"' } })
    expect(other.status).toBe(200)
  })

  it('answers HEAD with the head alone', async () => {
    const get = await download(service, { path: '/' })
    const head = await download(service, { path: '/', method: 'HEAD' })
    expect(head.status).toBe(200)
    expect(head.body.length).toBe(0)
    expect(head.headers['content-length']).toBe(String(get.body.length))
  })

  it.each([
    '/index.html',
    '/index.html.br',
    '/assets/',
    '/assets/none.js',
    '/assets/..%2findex.html',
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets//etc/passwd',
    '/assets/__proto__',
    '/favicon.ico',
  ])('has nothing under %s', async (path) => {
    expectProblem(await ask(service, { path }), NOT_FOUND)
  })

  it('takes no other method', async () => {
    const reply = await ask(service, { method: 'POST', path: '/' })
    expectProblem(reply, { status: 405, code: 'method_not_allowed' })
    expect(reply.headers['allow']).toBe('GET, HEAD')
  })

  it('leaves files as inert as they are without it', async () => {
    const { user } = await placeFile(service)
    const { headers } = await download(service, { user })
    expect(headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/)
    expect(headers['content-disposition']).toMatch(/^attachment/)
  })
})

describe('the page under a base path', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openEmbedded({ page, basePath: '/a/b' })
  })
  afterAll(() => service.stop())

  it('is there, and refers to nothing elsewhere', async () => {
    const { status, body } = await download(service, { path: '/a/b/' })
    expect(status).toBe(200)
    const references = [...body.toString().matchAll(/(?:src|href)="([^"]+)"/g)]
    for (const [, path = ''] of references) expect(path).toMatch(/^\.\//)
    expectProblem(await ask(service, { path: '/' }), NOT_FOUND)
  })

  it('sends who forgot the last slash there', async () => {
    const { status, headers } = await download(service, { path: '/a/b?x=1' })
    expect({ status, location: headers['location'] }).toEqual({ status: 308, location: 'b/' })
    expect(new URL(headers['location'] ?? '', 'http://h/a/b').pathname).toBe('/a/b/')
  })
})

describe('a service without a build', () => {
  it('has the session and no page', async () => {
    const service = await openEmbedded({ page: NO_BUILD })
    try {
      expectProblem(await ask(service, { path: '/' }), NOT_FOUND)
      expect((await ask(service, { method: 'DELETE', path: '/session' })).status).toBe(204)
    } finally {
      await service.stop()
    }
  })
})

describe('a service without the page', () => {
  let without: TestService
  let beside: TestService
  beforeAll(async () => {
    const { page: _, ...withoutPage } = EVERY_OPERATION
    without = await openEmbedded(withoutPage)
    beside = await openEmbedded({ ...EVERY_OPERATION, page })
  })
  afterAll(() => Promise.all([without.stop(), beside.stop()]))

  it('refuses in each operation alike', async () => {
    const shapes = [without, beside].map(async (service) => {
      const scene = await createScene(service)
      const replies: object[] = []
      for (const { listener, id, refused } of OPERATIONS) {
        if (listener === 'admin' || id.endsWith('Session')) continue
        const asked = authorized(listener, refused(scene)[0], scene)
        replies.push(shapeOf(await perform(service, listener, asked)))
      }
      return replies
    })
    const [one, other] = await Promise.all(shapes)
    expect(one).toEqual(other)
  })

  it.each(['/', '/assets/x.js'])('has no %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      expectProblem(await ask(without, { method, path }), NOT_FOUND)
    }
  })

  it('signs nobody in or out', async () => {
    for (const method of ['POST', 'DELETE']) {
      const reply = await ask(without, { method, path: '/session' })
      expectProblem(reply, { status: 405, code: 'method_not_allowed' })
    }
  })

  it('describes no signing in', async () => {
    const { body } = await download(without, { path: '/openapi.json' })
    expect(body.toString()).not.toContain('"openSession"')
  })
})

function decoded({ headers, body }: Reply): Buffer {
  if (headers['content-encoding'] === 'br') return brotliDecompressSync(body)
  return headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
}

/** What two services must agree on: all but what is new with every answer. */
function shapeOf({ status, headers, body }: Reply) {
  const isJson = /json/.test(headers['content-type'] ?? '')
  const members = isJson ? Object.keys(JSON.parse(body.toString() || '{}') as object) : []
  const steady = new Set(['date', 'x-request-id', 'etag', 'last-modified', 'content-length'])
  const kept = Object.entries(headers).filter(([name]) => !steady.has(name))
  return { status, headers: Object.fromEntries(kept), members }
}
