import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { freePort } from '../support/servers/local-server.ts'
import { findNginx, startNginx } from '../support/servers/nginx.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestUser } from '../support/service/test-service.ts'

const skipped = isSkipped(await whyMissing(findNginx()))

/** nginx with `gzip_types application/json`, which does not obey `no-transform`. */
describe.skipIf(skipped)('behind a proxy that compresses JSON', () => {
  const opened = new AsyncDisposableStack()
  let origin: string
  let user: TestUser

  beforeAll(async () => {
    const service = await openEmbedded()
    opened.defer(() => service.stop())
    const port = await freePort()
    const nginx = await startNginx(`
      gzip on; gzip_types application/json; gzip_min_length 0; gzip_proxied any;
      server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${service.port}; } }
    `)
    opened.defer(() => nginx.stop())
    origin = `http://127.0.0.1:${port}`
    user = await service.createUser(10_000_000)
  })
  afterAll(() => opened.disposeAsync())

  type Options = Pick<RequestInit, 'method' | 'body'> & {
    readonly headers?: Readonly<Record<string, string>>
  }
  function ask(path: string, options: Options) {
    const headers = { cookie: user.cookie, 'accept-encoding': 'gzip', ...options.headers }
    return fetch(origin + path, { ...options, headers })
  }

  it('the etag of an upload still matches', async () => {
    let etag = ''
    for (const body of ['one', 'two', 'three']) {
      const headers: Record<string, string> = etag === '' ? {} : { 'if-match': etag }
      const stored = await ask('/users/me/repo/a.txt', { method: 'PUT', body, headers })
      expect(stored.status).toBe(200)
      etag = stored.headers.get('etag') ?? ''
      expect(etag).toMatch(/^"[^"]+"$/)
      expect(await stored.json()).toMatchObject({ size: body.length, etag: etag.slice(1, -1) })
    }
    const download = await ask('/users/me/repo/a.txt', {})
    expect(download.headers.get('etag')).toBe(etag)
    expect(download.headers.get('cache-control')).toBe('private, no-cache, no-transform')
    expect(await download.text()).toBe('three')
  })

  it('a listing, which has none, is compressed', async () => {
    const listing = await ask('/users/me/repo', {})
    expect(listing.headers.get('content-encoding')).toBe('gzip')
  })
})
