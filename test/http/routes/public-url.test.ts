import { randomBytes } from 'node:crypto'
import { Upload } from 'tus-js-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type StrippingProxy, startStrippingProxy } from '../../support/http/stripping-proxy.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { MIB, secretOf } from '../fixture.ts'
import { basic, createLink, JSON_TYPE, visit } from '../links/link-requests.ts'
import { NO_BUILD } from '../../support/http/page.ts'
import { send } from '../scopes/scoped-requests.ts'

const TUS = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '1' }

describe('behind a proxy that removes the path of PUBLIC_URL', () => {
  let proxy: StrippingProxy
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    proxy = await startStrippingProxy('/drive')
    service = await openEmbedded({ publicUrl: proxy.url })
    proxy.forwardTo(service.port)
    user = await service.createUser(10 * MIB)
  })
  afterAll(async () => {
    await service?.stop()
    await proxy?.stop()
  })

  it('a link is where its address says, also after it has a new secret', async () => {
    await put('a/photo.txt', 'A photo')
    const link = await createLink(service, {
      token: secretOf(user),
      kind: 'download',
      prefix: 'a/',
    })
    expect(link.url).toBe(`${proxy.url}/links/${link.secret}`)
    expect(await (await fetch(`${link.url}/photo.txt`)).text()).toBe('A photo')
    const renewed = await send(service, {
      token: secretOf(user),
      method: 'POST',
      path: `/users/me/links/${link.link_id}/secret`,
    })
    const { url, secret } = (await renewed.json()) as { url: string; secret: string }
    expect(url).toBe(`${proxy.url}/links/${secret}`)
    expect((await fetch(`${url}/photo.txt`)).status).toBe(200)
  })

  it('a tus client follows the Location of its upload', async () => {
    const content = randomBytes(200_000)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const upload = new Upload(content, {
      endpoint: `${proxy.url}/users/me/uploads`,
      headers: { Authorization: `Bearer ${secretOf(user)}` },
      metadata: { filename: 'film.mp4' },
      chunkSize: 70_000,
      onSuccess: () => resolve(),
      onError: reject,
    })
    upload.start()
    await promise
    expect(upload.url).toMatch(new RegExp(`^${proxy.url}/users/me/uploads/[0-9a-f-]{36}$`))
    const stored = await send(service, { token: secretOf(user), path: '/users/me/repo/film.mp4' })
    expect(Buffer.from(await stored.arrayBuffer())).toEqual(content)
  })

  it('so does one that sends by a drop link', async () => {
    const { url } = await createLink(service, {
      token: secretOf(user),
      kind: 'drop',
      prefix: 'in/',
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const upload = new Upload(Buffer.from('dropped'), {
      endpoint: `${url}/uploads/`,
      metadata: { filename: 'b' },
      chunkSize: 4,
      onSuccess: () => resolve(),
      onError: reject,
    })
    upload.start()
    await promise
    expect(upload.url).toMatch(new RegExp(`^${url}/uploads/`))
    const stored = await send(service, { token: secretOf(user), path: '/users/me/repo/in/b' })
    expect(await stored.text()).toBe('dropped')
  })

  it('the cookie of a link is for its path there, and for that of the service itself', async () => {
    const terms = { token: secretOf(user), kind: 'drop', prefix: '', password: 'p' }
    const { secret } = await createLink(service, terms)
    const body = '{"password":"p"}'
    const unlocked = await visit(service, { secret, method: 'POST', headers: JSON_TYPE, body })
    const paths = unlocked.headers.getSetCookie().map((cookie) => /Path=([^;]+)/.exec(cookie)?.[1])
    expect(paths).toEqual([`/drive/links/${secret}`, `/links/${secret}`])
  })

  it('a client of the OpenAPI document finds the operations', async () => {
    const document = await (await fetch(`${proxy.url}/openapi.json`)).json()
    const { servers } = document as { servers: readonly { url: string }[] }
    expect(servers).toEqual([{ url: proxy.url }])
    expect((await fetch(`${servers[0]?.url}/livez`)).status).toBe(200)
  })

  it('the host of a request decides nothing', async () => {
    const { url } = await createLink(service, { token: secretOf(user), kind: 'drop', prefix: '' })
    expect(url).toContain(proxy.url)
    expect(proxy.strays).toEqual([])
  })

  async function put(name: string, body: string): Promise<void> {
    const path = `/users/me/repo/${name}`
    const stored = await send(service, { token: secretOf(user), method: 'PUT', path, body })
    expect(stored.status).toBe(200)
  }
})

describe('PUBLIC_URL', () => {
  it.each([
    ['https://files.example.com', ''],
    ['https://files.example.com/api', '/api'],
    ['https://files.example.com/one', '/other'],
  ])('%s is the whole base, whatever BASE_PATH is (%j)', async (publicUrl, basePath) => {
    const service = await openEmbedded({ publicUrl, basePath })
    try {
      const at = { ...service, url: service.url + basePath }
      const token = secretOf(await service.createUser(MIB))
      const terms = { token, kind: 'drop', prefix: '', password: 'p' }
      const { url, secret } = await createLink(at, terms)
      expect(url).toBe(`${publicUrl}/links/${secret}`)
      const dropped = await visit(at, {
        secret,
        path: '/uploads/',
        method: 'POST',
        headers: { ...TUS, ...basic('p'), 'Upload-Metadata': 'filename YQ==' },
      })
      expect(dropped.headers.get('location')).toContain(`${publicUrl}/links/${secret}/uploads/`)
      const created = await send(at, {
        token,
        method: 'POST',
        path: '/users/me/uploads',
        headers: { ...TUS, 'Upload-Metadata': 'filename YQ==' },
      })
      expect(created.headers.get('location')).toContain(`${publicUrl}/users/me/uploads/`)
      const { servers } = (await (await fetch(`${at.url}/openapi.json`)).json()) as {
        servers: unknown
      }
      expect(servers).toEqual([{ url: publicUrl }])
    } finally {
      await service.stop()
    }
  })

  it.each([
    ['https://files.example.com/api', '/api', '/api'],
    ['https://files.example.com/one', '/other', '/'],
    ['https://files.example.com', '/other', '/'],
  ])('%s with BASE_PATH %j has the session where browsers send it: %j', async (...row) => {
    const [publicUrl, basePath, path] = row
    const service = await openEmbedded({ publicUrl, basePath, page: NO_BUILD })
    try {
      const body = JSON.stringify({ access_token: secretOf(await service.createUser(MIB)) })
      const target = `${service.url}${basePath}/session`
      const signedIn = await fetch(target, { method: 'POST', headers: JSON_TYPE, body })
      const kept = signedIn.headers.getSetCookie().filter((cookie) => cookie.includes('=crt_'))
      expect(kept).toEqual([expect.stringContaining(`; Path=${path};`)])
    } finally {
      await service.stop()
    }
  })
})
