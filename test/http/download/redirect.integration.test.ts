import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openRedirecting, publicEndpoint } from '../../support/service/s3-service.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { bytesOf, clientOf, digestOf } from '../../clients/package/fixture.ts'
import { download, expectProblem, jsonOf, MIB, pathOf, secretOf, upload } from '../fixture.ts'
import { createLink, visit } from '../links/link-requests.ts'

const minio = inject('minio')

const LIMIT = 100_000
const CONTENT = randomBytes(LIMIT + 1)
const NAME = 'a "b" ä.html'
const STORE_HOST = URL.parse(publicEndpoint(minio) ?? '')?.hostname.toUpperCase()
const TAG_OF_STORE = '"0cc175b9c0f1b6a831c399e269772661"'

describe.skipIf(minio === undefined)('a download of a file above the limit', () => {
  let service: TestService
  let user: TestUser
  let etag: string
  beforeAll(async () => {
    service = await openRedirecting(minio, { aboveBytes: LIMIT, historyLifetimeMs: 3_600_000 })
    user = await service.createUser(64 * MIB)
    const stored = await put(NAME, CONTENT)
    etag = `"${String(stored['etag'])}"`
  })
  afterAll(() => service?.stop())

  async function put(name: string, content: Uint8Array, query = '') {
    const answer = await upload(service, { user, name, content, query })
    expect(answer.status).toBe(200)
    return jsonOf(answer)
  }
  const get = (headers: Readonly<Record<string, string>> = {}, path?: string) =>
    download(service, { user, name: NAME, headers, ...(path !== undefined && { path }) })
  async function follow(
    { headers }: { readonly headers: Readonly<Record<string, string>> },
    sent: Readonly<Record<string, string>> = {},
  ) {
    const answer = await fetch(headers['location'] ?? '', { headers: sent, redirect: 'error' })
    return { answer, body: Buffer.from(await answer.arrayBuffer()) }
  }

  it('is redirected to a URL of the store, which no cache keeps and no page learns', async () => {
    const redirect = await get()
    expect(redirect).toMatchObject({ status: 307, body: Buffer.alloc(0) })
    expect(redirect.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-length': '0',
    })
    for (const name of ['etag', 'content-type', 'content-disposition']) {
      expect(redirect.headers).not.toHaveProperty(name)
    }
    const { answer, body } = await follow(redirect)
    expect(answer.status).toBe(200)
    expect(body).toEqual(CONTENT)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="a _b_ _.html"; filename*=UTF-8''a%20%22b%22%20%C3%A4.html`,
      'cache-control': 'private, no-store',
    })
  })

  it('has its conditions and its range checked here, and sent by the store', async () => {
    for (const [range, first, end] of [
      ['bytes=10-19', 10, 20],
      ['bytes=100000-', 100_000, LIMIT + 1],
      ['bytes=-5', LIMIT - 4, LIMIT + 1],
    ] as const) {
      const redirect = await get({ range })
      expect(redirect.status).toBe(307)
      const { answer, body } = await follow(redirect, { range })
      expect(answer.status).toBe(206)
      expect(body).toEqual(CONTENT.subarray(first, end))
    }
    expectProblem(await get({ 'if-match': '"other"' }), {
      status: 412,
      code: 'precondition_failed',
    })
    expectProblem(await get({ range: `bytes=${LIMIT + 1}-` }), {
      status: 416,
      code: 'range_not_satisfiable',
    })
  })

  it.each([
    ['If-None-Match of its version', () => ({ 'if-none-match': etag }), 304],
    ['If-None-Match of another', () => ({ 'if-none-match': '"other"' }), 307],
    ['If-Match of its version', () => ({ 'if-match': etag }), 200],
    ['If-Match of any', () => ({ 'if-match': '*' }), 200],
    ['If-Modified-Since', () => ({ 'if-modified-since': new Date(0).toUTCString() }), 200],
    ['If-Unmodified-Since', () => ({ 'if-unmodified-since': tomorrow() }), 200],
    ['If-Range of its version', () => ({ range: 'bytes=5-', 'if-range': etag }), 206],
    ['If-Range of another', () => ({ range: 'bytes=5-', 'if-range': TAG_OF_STORE }), 307],
    ['several ranges', () => ({ range: 'bytes=0-1,5-6' }), 200],
    ['a range in other letters', () => ({ range: 'BYTES=5-' }), 206],
    ['a range of another unit', () => ({ range: 'lines=0-1' }), 200],
    ['a range without a byte', () => ({ range: 'bytes=5-2' }), 200],
    ['Want-Repr-Digest', () => ({ 'want-repr-digest': 'sha-256=1' }), 200],
    ['Want-Repr-Digest that wants none', () => ({ 'want-repr-digest': 'sha-256=0' }), 307],
    ['a cookie that the store would get', () => ({ host: `${STORE_HOST}:${service.port}` }), 200],
  ] as const)(
    'is judged here with %s, and redirected only if the store comes to the same',
    async (_, headersOf, status) => {
      const answer = await get(headersOf())
      expect(answer.status).toBe(status)
      expect(answer.body).toEqual(contentOf(status))
    },
  )

  it('goes on in the store with its own entity tag', async () => {
    const { answer } = await follow(await get())
    const sent = { range: 'bytes=7-', 'if-range': answer.headers.get('etag') ?? '' }
    const rest = await follow(await get(sent), sent)
    expect(rest.answer.status).toBe(206)
    expect(rest.body).toEqual(CONTENT.subarray(7))
  })

  it('a download for the page (inline) is answered here', async () => {
    expect(await get({}, `${pathOf(NAME)}?inline=true`)).toMatchObject({ status: 200 })
    expect(await get({}, `${pathOf(NAME)}?inline=false`)).toMatchObject({ status: 307 })
  })

  it('is answered here to HEAD', async () => {
    const answer = await download(service, { user, name: NAME, method: 'HEAD' })
    expect(answer).toMatchObject({ status: 200, headers: { etag } })
  })

  it('is not redirected if the file is as large as the limit', async () => {
    const content = CONTENT.subarray(0, LIMIT)
    await put('limit', content)
    expect(await get({}, pathOf('limit'))).toMatchObject({ status: 200, body: content })
  })

  it('is redirected for the owner alone: the store sends the name and metadata of the upload', async () => {
    await put('public', CONTENT, '?visibility=public')
    const owner = user.userId
    expect(await get({}, pathOf('public', owner))).toMatchObject({ status: 307 })
    const other = await service.createUser(MIB)
    for (const reader of [{}, { user: other }]) {
      const answer = await download(service, { ...reader, name: 'public', owner })
      expect(answer).toMatchObject({ status: 200, body: CONTENT })
    }
    expectProblem(await download(service, { name: NAME, owner }), {
      status: 404,
      code: 'not_found',
    })
    const stranger = { userId: user.userId, cookie: 'access_token=crt_wrong' }
    const refused = await download(service, { user: stranger, name: 'public', owner })
    expectProblem(refused, { status: 403, code: 'access_token_invalid' })
  })

  it('a download of a past version is redirected', async () => {
    const { version } = await put('past', CONTENT)
    await put('past', Buffer.from('new'))
    const redirect = await get({}, `/users/me/history/${String(version)}`)
    expect(redirect.status).toBe(307)
    const { answer, body } = await follow(redirect)
    expect(body).toEqual(CONTENT)
    expect(answer.headers.get('content-disposition')).toContain('filename="past"')
  })

  it('a download by a link is answered here, where its uses are counted and its owner is not named', async () => {
    const token = secretOf(user)
    for (const terms of [{}, { max_uses: 1 }]) {
      const { secret } = await createLink(service, {
        token,
        kind: 'download',
        name: NAME,
        ...terms,
      })
      const path = `/${encodeURIComponent(NAME)}`
      const answer = await visit(service, { secret, path })
      expect(answer.status).toBe(200)
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(CONTENT)
    }
  })

  it('works with clients that follow it, which do not pass on the token', async () => {
    const token = secretOf(user)
    const url = `${service.url}${pathOf(NAME)}`
    const authorization = `Bearer ${token}`
    const fetched = await fetch(url, { headers: { authorization } })
    expect(fetched).toMatchObject({ status: 200, redirected: true })
    expect(Buffer.from(await fetched.arrayBuffer())).toEqual(CONTENT)
    const options = { encoding: 'buffer', maxBuffer: MIB } as const
    const args = ['--silent', '--fail', '--location', '--header', `Authorization: ${authorization}`]
    const { stdout } = await promisify(execFile)('curl', [...args, url], options)
    expect(stdout).toEqual(CONTENT)
  })

  it('works with the client, whole and in a range, which has the digest of the file', async () => {
    const client = clientOf(user, service.url)
    const whole = await client.files.download(NAME)
    expect(whole).toMatchObject({ size: CONTENT.length, sha256: digestOf(CONTENT) })
    expect(Buffer.from(await bytesOf(whole.stream))).toEqual(CONTENT)
    const { stream } = await client.files.download(NAME, { range: { start: 9, end: 12 } })
    expect(Buffer.from(await bytesOf(stream))).toEqual(CONTENT.subarray(9, 12))
  })
})

describe.skipIf(minio === undefined)('redirects', () => {
  it('hold their slot only until they are sent', async () => {
    const service = await openRedirecting(minio, { aboveBytes: 0, maxDownloadsPerUser: 1 })
    const user = await service.createUser(MIB)
    await upload(service, { user, content: 'content' })
    for (let at = 0; at < 3; at++) expect((await download(service, { user })).status).toBe(307)
    await service.stop()
  })
})

/** Of the answers from here. A 206 begins at byte 5. */
function contentOf(status: number): Buffer {
  if (status === 200) return CONTENT
  return status === 206 ? CONTENT.subarray(5) : Buffer.alloc(0)
}

function tomorrow(): string {
  return new Date(Date.now() + 86_400_000).toUTCString()
}
