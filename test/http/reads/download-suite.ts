import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../../src/core/error-codes.ts'
import { SECURITY_HEADERS } from '../../../src/http/headers/security-headers.ts'
import { type Piece, rawRequest } from '../../support/http/raw-http.ts'
import { bytesOf, digest } from '../../support/objects.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  download,
  expectOnlyObjectsOf,
  expectProblem,
  MIB,
  type OpenService,
  pathOf,
  type Placed,
  placeFile,
  type Reply,
  startDownload,
  upload,
} from '../fixture.ts'

const SIZE = 1000

const PAST = 'Sun, 06 Nov 1994 08:49:37 GMT'
const FUTURE = 'Fri, 31 Dec 9999 23:59:59 GMT'

/** Conditions and ranges of downloads, and downloads that are under way while the file goes. */
export function downloadSuite(open: OpenService): void {
  describe('downloads', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service, { size: SIZE })
    })

    const get = (headers: Record<string, string>, method = 'GET') =>
      download(service, { user: placed.user, headers, method })

    describe('with a range', () => {
      it.each([
        ['bytes=0-0', 0, 0],
        ['bytes=10-19', 10, 19],
        ['bytes=990-', 990, 999],
        ['bytes=-1', 999, 999],
        ['bytes=-5000', 0, 999],
        ['bytes=0-', 0, 999],
        ['bytes=900-5000', 900, 999],
      ])('H11 answer %s with 206 and those bytes alone', async (range, first, last) => {
        const whole = await get({})
        const part = await get({ range })
        expect(part.status).toBe(206)
        expect(part.body.equals(placed.content.subarray(first, last + 1))).toBe(true)
        expect(stable(part)).toEqual({
          ...stable(whole),
          'content-length': `${last - first + 1}`,
          'content-range': `bytes ${first}-${last}/${SIZE}`,
        })
      })

      it.each(['bytes=1000-', 'bytes=1000-2000', 'bytes=-0', `bytes=${'9'.repeat(30)}-`])(
        'H11 answer %s with 416 and the size',
        async (range) => {
          const reply = await get({ range })
          const problem = expectProblem(reply, { status: 416, code: 'range_not_satisfiable' })
          expect(problem['size']).toBe(SIZE)
          expect(reply.headers).toMatchObject({
            'content-range': `bytes */${SIZE}`,
            'cache-control': 'no-store',
          })
          expect(reply.headers['etag']).toBeUndefined()
        },
      )

      it.each(['bytes=0-1,5-6', 'items=0-1', 'bytes=5-2', 'bytes=x', ''])(
        'answer %j with the whole file',
        async (range) => {
          expectWhole(await get({ range }), placed)
        },
      )

      it('ranges of an empty file have nothing to give', async () => {
        await upload(service, { user: placed.user, content: '' })
        const reply = await get({ range: 'bytes=0-' })
        expectProblem(reply, { status: 416, code: 'range_not_satisfiable' })
        expect(reply.headers['content-range']).toBe('bytes */0')
        expect(await get({ range: 'bytes=-5' })).toMatchObject({ status: 200, body: Buffer.of() })
      })

      it('H11 join to the whole over every part of a larger file', async () => {
        const content = randomBytes(11 * MIB + 7)
        await upload(service, { user: placed.user, content })
        const parts: Buffer[] = []
        for (let first = 0; first < content.length; first += 3 * MIB) {
          const { body } = await get({ range: `bytes=${first}-${first + 3 * MIB - 1}` })
          parts.push(body)
        }
        expect(Buffer.concat(parts).equals(content)).toBe(true)
      })

      it('H11 go on only in the content that the client has begun with', async () => {
        const range = 'bytes=500-'
        expect((await get({ range, 'if-range': placed.etag })).status).toBe(206)
        const { headers } = await get({})
        const date = headers['last-modified'] ?? ''
        await upload(service, { user: placed.user, content: randomBytes(SIZE) })
        for (const ifRange of [placed.etag, date]) {
          expect((await get({ range, 'if-range': ifRange })).status).toBe(200)
        }
        const other = await get({ range, 'if-match': placed.etag })
        expectProblem(other, { status: 412, code: 'precondition_failed' })
      })
    })

    describe.each(['GET', 'HEAD'])('asked for with %s and a condition', (method) => {
      it('H11 answer 304 with what a cache renews, and no content', async () => {
        const { headers } = await get({})
        const { etag } = placed
        const date = headers['last-modified'] ?? ''
        const { 'cache-control': control, vary } = headers
        for (const condition of [
          { 'if-none-match': etag },
          { 'if-none-match': `"other", W/${etag}` },
          { 'if-none-match': '*' },
          { 'if-modified-since': date },
          { 'if-modified-since': FUTURE },
          { 'if-none-match': etag, 'if-modified-since': PAST, range: 'bytes=0-0' },
        ]) {
          const reply = await get({ ...condition, 'want-repr-digest': 'sha-256=1' }, method)
          expect(reply).toMatchObject({ status: 304, body: Buffer.of() })
          const renewed = { etag, 'last-modified': date, 'cache-control': control, vary }
          const sha256 = Buffer.from(digest(placed.content), 'hex').toString('base64')
          const stated = { 'repr-digest': `sha-256=:${sha256}:` }
          expect(stable(reply)).toEqual({ ...renewed, ...stated, ...SECURITY_HEADERS })
        }
      })

      it('H11 answer 412 when the file is not what the request demands', async () => {
        for (const condition of [
          { 'if-match': '"other"' },
          { 'if-match': `W/${placed.etag}` },
          { 'if-unmodified-since': PAST },
          { 'if-match': '"other"', 'if-none-match': placed.etag, range: 'bytes=5000-' },
        ]) {
          const reply = await get(condition, method)
          expectRefusal(reply, { method, status: 412, code: 'precondition_failed' })
        }
      })

      it('H11 answer 200 when the conditions are met, or are none', async () => {
        for (const condition of [
          { 'if-match': placed.etag },
          { 'if-match': `"other", ${placed.etag}` },
          { 'if-match': '*' },
          { 'if-unmodified-since': FUTURE },
          { 'if-none-match': '"other"' },
          { 'if-modified-since': PAST },
          { 'if-none-match': '"other"', 'if-modified-since': FUTURE },
          { 'if-match': placed.etag, 'if-unmodified-since': PAST },
          { 'if-modified-since': 'now', 'if-unmodified-since': '0' },
        ]) {
          const reply = await get(condition, method)
          expect(reply.status).toBe(200)
          if (method === 'GET') expectWhole(reply, placed)
        }
      })

      it('refuse a malformed one by its name, once the file is found', async () => {
        for (const parameter of ['If-Match', 'If-None-Match']) {
          const headers = { [parameter]: placed.etag.slice(1, -1) }
          const reply = await get(headers, method)
          expectRefusal(reply, { method, status: 400, code: 'invalid_parameter' })
          expect(reply.body.toString()).toContain(method === 'HEAD' ? '' : parameter)
          const { user } = placed
          const absent = await download(service, { user, name: 'absent', headers, method })
          expectRefusal(absent, { method, status: 404, code: 'not_found' })
        }
      })
    })

    it.each(['GET', 'HEAD'])(
      'downloads with %s state the digest of the whole file when asked',
      async (method) => {
        const sha256 = Buffer.from(digest(placed.content), 'hex').toString('base64')
        const want = { 'want-repr-digest': 'sha-512=9, sha-256=1' }
        const stated = `sha-256=:${sha256}:`
        expect((await get(want, method)).headers['repr-digest']).toBe(stated)
        const part = await get({ ...want, range: 'bytes=0-0' }, method)
        expect(part.headers['repr-digest']).toBe(stated)
        for (const headers of [{}, { 'want-repr-digest': 'sha-256=0' }]) {
          expect((await get(headers, method)).headers['repr-digest']).toBeUndefined()
        }
      },
    )

    it('say of HEAD with a range what they say without one', async () => {
      const head = await get({ range: 'bytes=0-0' }, 'HEAD')
      expect(head.status).toBe(200)
      expect(stable(head)).toEqual(stable(await get({})))
    })

    underWay(open)
  })
}

/** What is read is one version from its first byte to its last, whatever becomes of the file. */
function underWay(open: OpenService): void {
  describe('under way', () => {
    const size = 24 * MIB
    let service: TestService
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())

    it.each([
      ['the whole file', {}, 0],
      ['a range', { range: `bytes=${MIB}-` }, MIB],
    ])('H10 end with their bytes when the file is overwritten and swept: %s', async (...row) => {
      const [, headers, first] = row
      const { user, name, content } = await placeFile(service, { size })
      const under = await startDownload(service, { user, headers })
      await upload(service, { user, content: 'new' })
      await afterSweep(service, async () => {
        expect((await bytesOf(under)).equals(content.subarray(first))).toBe(true)
      })
      expect((await download(service, { user })).body.toString()).toBe('new')
      await expectOnlyObjectsOf(service, { user, names: [name] })
    })

    it('have their own bytes side by side, be they slow, fast or broken off', async () => {
      const files = await Promise.all(Array.from({ length: 3 }, () => placeFile(service, { size })))
      // Their bytes wait in this process while others come and go.
      const slow = await Promise.all(files.map(({ user }) => startDownload(service, { user })))
      for (let round = 0; round < 3; round++) {
        const broken = await Promise.all(files.map(({ user }) => startDownload(service, { user })))
        const fast = await Promise.all(files.map(({ user }) => download(service, { user })))
        for (const [index, { body }] of fast.entries()) {
          expect(body.equals(files[index]?.content ?? Buffer.of())).toBe(true)
        }
        for (const response of broken) response.destroy()
      }
      for (const [index, response] of slow.entries()) {
        expect((await bytesOf(response)).equals(files[index]?.content ?? Buffer.of())).toBe(true)
      }
    })

    it('H10 end with their bytes when the user is deleted and purged', async () => {
      const { user, content } = await placeFile(service, { size })
      const under = await startDownload(service, { user })
      await service.users.deleteUser(user.userId)
      await afterSweep(service, async () => {
        expect((await bytesOf(under)).equals(content)).toBe(true)
      })
      expect((await download(service, { user })).status).toBe(403)
      await service.sweep()
      expect(await service.storedKeys(user)).toEqual([])
    })
  })
}

/** A store may let the removal wait for its reader, so the sweep gets time but need not end first. */
async function afterSweep(service: TestService, read: () => Promise<void>): Promise<void> {
  const sweep = service.sweep()
  await Promise.race([sweep, delay(1000)])
  await read()
  await sweep
}

const UNWANTED: [what: string, rest: string][] = [
  ['as large as can be', `Content-Length: 65536\r\n\r\n${'x'.repeat(65_536)}`],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'],
  ['that waits to be asked for', 'Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello'],
]

/** Downloads with a body, which nobody needs: it is read to its end first, or refused. */
export function downloadBodiesSuite(open: OpenService): void {
  describe('a download with a body', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ idleTimeoutMs: 1_000 })
      // Larger than what is read in one piece, so that the answer is a stream.
      placed = await placeFile(service, { size: 2 * MIB })
    })
    afterAll(() => service.stop())

    const headOf = (method: string): string =>
      `${method} ${pathOf('file.bin')} HTTP/1.1\r\nHost: x\r\nCookie: ${placed.user.cookie}\r\n`

    const tooLarge = (method: string): Piece[] => {
      const body = Buffer.alloc(8 * MIB)
      return [`${headOf(method)}Content-Length: ${body.length}\r\n\r\n`, body]
    }

    it.each(UNWANTED)('%s is answered, and the connection stays open', async (_what, rest) => {
      const reply = await rawRequest({ port: service.port, send: [headOf('GET') + rest] })
      expect(reply).toMatchObject({ status: 200, closed: false })
      expect(reply.body.equals(placed.content)).toBe(true)
    })

    it('a body that is too large is refused, and the client reads so once it has sent all', async () => {
      const reply = await rawRequest({ port: service.port, send: tooLarge('GET'), readLate: true })
      const problem = expectProblem(reply, { status: 400, code: 'format_error' })
      expect(problem['detail']).toBe('The body is larger than 64 KiB.')
    })

    it('a body of HEAD that is too large is refused, too', async () => {
      const send = tooLarge('HEAD')
      const { received } = await rawRequest({ port: service.port, send, readLate: true })
      expect(received.toString('latin1')).toMatch(/^HTTP\/1\.1 400 [^]*\r\n\r\n$/)
    })

    it('a body that stops coming is refused', async () => {
      const send = [`${headOf('GET')}Content-Length: 10\r\n\r\nhello`]
      const reply = await rawRequest({ port: service.port, send })
      expectProblem(reply, { status: 408, code: 'request_timeout' })
    })
  })
}

/** A problem document; of HEAD only what it says in its head. */
function expectRefusal(
  reply: Reply,
  { method, ...problem }: { method: string; status: number; code: ErrorCode },
): void {
  expect(reply).toMatchObject({
    status: problem.status,
    headers: {
      'cache-control': 'no-store',
      'content-type': expect.stringContaining('problem+json') as string,
    },
  })
  if (method === 'GET') expectProblem(reply, problem)
  expect(reply.body.length > 0).toBe(method === 'GET')
}

function expectWhole(reply: Reply, { content, etag }: Placed): void {
  expect(reply).toMatchObject({
    status: 200,
    headers: { 'content-length': `${content.length}`, 'accept-ranges': 'bytes', etag },
  })
  expect(reply.headers['content-range']).toBeUndefined()
  expect(reply.body.equals(content)).toBe(true)
}

/** The headers of a reply that belong to the file. */
function stable({ headers }: Reply): Readonly<Record<string, string>> {
  const { date: _d, 'x-request-id': _i, connection: _c, 'keep-alive': _k, ...rest } = headers
  return rest
}
