import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDns } from '../support/faults/dns.ts'
import { digest } from '../support/objects.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { findNginx, startProxy } from '../support/servers/nginx.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestUser } from '../support/service/test-service.ts'

const skipped = isSkipped(await whyMissing(findNginx()))

const POLL = { timeout: 10_000, interval: 20 }

describe.skipIf(skipped)('deploy/nginx.conf', () => {
  const opened = new AsyncDisposableStack()
  let port: number
  let user: TestUser

  beforeAll(async () => {
    const service = await openEmbedded({ trustedProxies: ['127.0.0.1'] })
    opened.defer(() => service.stop())
    const dns = await startDns(['127.0.0.1'])
    opened.defer(() => dns.stop())
    const proxy = await startProxy({ port: service.port, dnsPort: dns.port })
    opened.defer(() => proxy.stop())
    port = proxy.port
    user = await service.createUser(10_000_000)
  })
  afterAll(() => opened.disposeAsync())

  type Options = Pick<RequestInit, 'body'> & { readonly headers?: Readonly<Record<string, string>> }
  const ask = (method: string, path: string, options: Options = {}) => {
    const headers = { cookie: user.cookie, 'tus-resumable': '1.0.0', ...options.headers }
    return fetch(`http://127.0.0.1:${port}${path}`, { ...options, method, headers })
  }
  const offsetOf = async (path: string): Promise<number> =>
    Number((await ask('HEAD', path)).headers.get('upload-offset'))
  const appendAt = (offset: number) => ({
    'content-type': 'application/offset+octet-stream',
    'upload-offset': String(offset),
  })

  async function create(length: number): Promise<string> {
    const headers = { 'upload-length': String(length), 'upload-metadata': 'filename YQ==' }
    const reply = await ask('POST', '/users/me/uploads', { headers })
    expect(reply.status).toBe(201)
    return reply.headers.get('location') ?? ''
  }

  it('keeps what has arrived of a resumable upload when the connection breaks, and continues there', async () => {
    const content = randomBytes(1_000_000)
    const path = await create(content.length)
    const headers = {
      cookie: user.cookie,
      'tus-resumable': '1.0.0',
      ...appendAt(0),
      'content-length': content.length,
    }
    const append = httpRequest({ host: '127.0.0.1', port, method: 'PATCH', path, headers })
    append.on('error', () => undefined)
    append.write(content.subarray(0, 600_000))
    const state = async () => ((await (await ask('GET', path)).json()) as { state: string }).state
    await expect.poll(state, POLL).toBe('receiving')
    const closed = new Promise((resolve) => append.once('close', resolve))
    append.destroy()
    await closed

    const offset = await offsetOf(path)
    expect(offset).toBeGreaterThan(0)
    expect(offset).toBeLessThanOrEqual(600_000)
    const body = content.subarray(offset)
    const rest = await ask('PATCH', path, { headers: appendAt(offset), body })
    expect({ status: rest.status, body: await rest.text() }).toEqual({ status: 204, body: '' })
    expect(rest.headers.get('upload-offset')).toBe(String(content.length))
    const file = await ask('GET', '/users/me/repo/a')
    expect(digest(new Uint8Array(await file.arrayBuffer()))).toBe(digest(content))
  })

  it('says where the creation of an upload is, and by a HEAD how far it has come', async () => {
    const path = await create(5)
    expect(path).toMatch(/^\/users\/me\/uploads\/[0-9a-f-]{36}$/)
    const reply = await ask('HEAD', path)
    const told = ['upload-offset', 'upload-length', 'tus-resumable', 'upload-metadata'].map(
      (name) => reply.headers.get(name),
    )
    expect(told).toEqual(['0', '5', '1.0.0', 'filename YQ=='])
    expect((await ask('DELETE', path)).status).toBe(204)
    expect((await ask('HEAD', path)).status).toBe(404)
  })

  it.each([
    ['a/b c/d%2F', ['a/b%20c/d%252F', 'a%2Fb%20c%2fd%252F']],
    ['folder/', ['folder/', 'folder%2F']],
  ])('passes the path of %j on, however it is encoded', async (name, paths) => {
    for (const path of paths) {
      const stored = await ask('PUT', `/users/me/repo/${path}`)
      expect({ status: stored.status, ...((await stored.json()) as object) }).toMatchObject({
        status: 200,
        name,
      })
      expect((await ask('GET', `/users/me/repo/${path}`)).status).toBe(200)
    }
  })
})
