import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fileBody, httpChunk } from '../../support/http/multipart-body.ts'
import { type Piece, rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  ask,
  download,
  expectProblem,
  expectUntouched,
  headOf,
  MIB,
  type OpenService,
  pathOf,
  type Placed,
  placeFile,
  upload,
} from '../fixture.ts'
import { readUsage } from '../../support/read-usage.ts'

const MALFORMED = { status: 400, code: 'format_error' } as const
const form = fileBody('new')

/** What the HTTP parser itself refuses: it gets a status, the connection closes, and nothing has happened. */
export function parserErrorsSuite(open: OpenService): void {
  describe('a request that is not valid HTTP', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it.each([
      ['of no HTTP at all', 'hello\r\n\r\n'],
      ['with an unknown method', `GRAB ${pathOf('file.bin')} HTTP/1.1\r\nHost: x\r\n\r\n`],
      ['with a space before a colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'],
      ['with a CR inside a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n'],
      ['with a header that is none', 'GET / HTTP/1.1\r\nHost: x\r\nnone\r\n\r\n'],
      ['of TLS', Buffer.from('16030100', 'hex')],
    ])('%s is answered with a problem and closed', async (_what, bytes) => {
      const { port } = service
      const reply = await rawRequest({ port, send: [bytes, '\r\n\r\n'] })
      expectProblem(reply, MALFORMED)
      expect(reply.closed).toBe(true)
    })

    it('a request that wants a tunnel is answered with a problem and closed', async () => {
      const send = ['CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n']
      const reply = await rawRequest({ port: service.port, send })
      expectProblem(reply, MALFORMED)
      expect(reply.closed).toBe(true)
    })

    it('a request that wants a tunnel and is reset harms nobody', async () => {
      const tunnels = Array.from({ length: 20 }, async () => {
        const socket = connect(service.port, '127.0.0.1')
        await once(socket, 'connect')
        socket.on('error', () => {})
        socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\nmore')
        socket.resetAndDestroy()
        await once(socket, 'close')
      })
      await Promise.all(tunnels)
      expect((await download(service, placed)).status).toBe(200)
    })

    it('a head over 16 KiB is answered with 431 and closed', async () => {
      const send = [`GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(40_000)}\r\n\r\n`]
      const reply = await rawRequest({ port: service.port, send })
      expectProblem(reply, { status: 431, code: 'request_head_too_large' })
      expect(reply.closed).toBe(true)
    })

    it.each([
      ['without a Host', ''],
      ['with two Hosts', 'Host: a\r\nHost: b\r\n'],
      ['with a Host that is none', 'Host: a\\b\r\n'],
      ['with a user in its Host', 'Host: me@a\r\n'],
      ['with two ports in its Host', 'Host: a:1:2\r\n'],
      ['with half an address in its Host', 'Host: [::1\r\n'],
    ])('%s is answered with a problem', async (_what, headers) => {
      const send = [`GET /livez HTTP/1.1\r\n${headers}\r\n`]
      expectProblem(await rawRequest({ port: service.port, send }), MALFORMED)
    })

    it.each(['PUT', 'POST', 'DELETE', 'GET'])(
      'a target without its first / is refused, and %s does not reach the file (I2)',
      async (method) => {
        const { user } = placed
        const path = pathOf('file.bin').replace('/', '*')
        expectProblem(await ask(service, { user, method, path }), MALFORMED)
        await expectUntouched(service, placed)
      },
    )

    it.each(['0.9', '2.0'])('a request in HTTP/%s is answered with a problem', async (version) => {
      const send = [`GET /livez HTTP/${version}\r\nHost: x\r\n\r\n`]
      expectProblem(await rawRequest({ port: service.port, send }), MALFORMED)
    })

    it('a request in HTTP/1.0 has no chunks (I2)', async () => {
      const { user } = placed
      const head = headOf({ user, length: undefined }).replace('HTTP/1.1', 'HTTP/1.0')
      const send = [head, httpChunk(form), httpChunk('')]
      expectProblem(await rawRequest({ port: service.port, send }), MALFORMED)
      await expectUntouched(service, placed)
    })

    it.each(['PUT', 'POST', 'DELETE', 'GET'])(
      'a raw # in the target is refused, and %s does not reach the file before it',
      async (method) => {
        const { user } = placed
        const path = `${pathOf('file.bin')}#2`
        expectProblem(await ask(service, { user, method, path }), MALFORMED)
        await expectUntouched(service, placed)
      },
    )

    it.each([
      [
        'two ends of its body',
        { 'Content-Length': `${form.length}`, 'Transfer-Encoding': 'chunked' },
      ],
      ['an unknown transfer coding', { 'Transfer-Encoding': 'xchunked' }],
      ['a transfer coding after the chunks', { 'Transfer-Encoding': 'chunked, gzip' }],
      ['two lengths', { 'Content-Length': '5', 'content-length': `${form.length}` }],
      ['a negative length', { 'Content-Length': '-1' }],
      ['a length with a sign', { 'Content-Length': `+${form.length}` }],
      ['a length of 2^64', { 'Content-Length': '18446744073709551616' }],
    ])('H09 with %s is refused, closed, and changes nothing (I2)', async (_what, framing) => {
      const head = headOf({ user: placed.user, length: form.length, headers: framing })
      const plain = head.replace(
        /^Content-Length: \d+\r\n(?=[^]*^Transfer|[^]*^content-length)/m,
        '',
      )
      const text = 'Content-Length' in framing ? head : plain
      const reply = await rawRequest({ port: service.port, send: [text, form] })
      expectProblem(reply, MALFORMED)
      expect(reply.closed).toBe(true)
      await expectUntouched(service, placed)
    })

    it.each([
      ['is no number', 'zz\r\n'],
      ['is negative', '-1\r\n'],
      ['has 40 KB of extensions', `5;${'x'.repeat(40_000)}\r\n`],
      ['is too large', 'ffffffffffffffffff\r\n'],
    ])('H09 with a chunk whose size %s changes nothing (I2)', async (_what, size) => {
      const send = [headOf({ user: placed.user, length: undefined }), httpChunk(form), size]
      const reply = await rawRequest({ port: service.port, send })
      expect(reply.status).toBe(400)
      expect(reply.closed).toBe(true)
      await expectUntouched(service, placed)
    })

    it.each([
      ['the router', `POST /users/me/repo/%ff`, 'invalid_file_name'],
      ['a route', 'POST /users/me/repo/a', 'access_token_missing'],
    ])(
      'a request in the body of what %s has refused gets no answer of its own',
      async (_who, line, code) => {
        const head = `${line} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`
        const send = [head, { pauseMs: 100 }, 'zz\r\n\r\n', { pauseMs: 100 }]
        const reply = await rawRequest({ port: service.port, send, responses: 2 })
        expect(JSON.parse(reply.body.toString())).toMatchObject({ code })
        expect(reply.all).toHaveLength(1)
      },
    )

    it('an invalid HEAD is answered without a body', async () => {
      const head = `HEAD ${pathOf('file.bin')} HTTP/1.1\r\nHost: x\r\nCookie: ${placed.user.cookie}`
      const send = [`${head}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`]
      const { received, closed } = await rawRequest({ port: service.port, send, responses: 2 })
      expect(received.toString('latin1')).toMatch(/^HTTP\/1\.1 400 [^]*\r\n\r\n$/)
      expect(closed).toBe(true)
    })

    it('behind a refused upload is not answered into its refusal', async () => {
      const full = await placeFile(service, { capacity: 1000, size: 1000 })
      const first = fileBody(Buffer.alloc(50_000)).subarray(0, 40_000)
      const send = [
        headOf({ user: full.user, name: 'b', length: undefined }),
        httpChunk(first),
        { pauseMs: 300 },
        'zz\r\n\r\n',
      ]
      const reply = await rawRequest({ port: service.port, send })
      expectProblem(reply, { status: 403, code: 'capacity_exceeded' })
      expect(reply.all).toHaveLength(1)
    })

    it('behind a download that is under way puts no byte into it (I1)', async () => {
      const big = await placeFile(service, { size: 32 * MIB, capacity: 64 * MIB, name: 'big' })
      const head = `GET ${pathOf('big')} HTTP/1.1\r\nHost: x\r\nCookie: ${big.user.cookie}\r\n\r\n`
      const send = [head, { pauseMs: 50 }, 'hello\r\n\r\n']
      const body = await bodyReadLate({ port: service.port, send })
      // The connection may close early, but what came is a part of the file.
      expect(body.equals(big.content.subarray(0, body.length))).toBe(true)
    })

    it('H08 is not looked at behind one that is still being answered', async () => {
      const { user } = placed
      const big = fileBody(randomBytes(MIB))
      const small = fileBody('overtaken')
      const send = [
        Buffer.concat([Buffer.from(headOf({ user, length: big.length })), big]),
        Buffer.concat([Buffer.from(headOf({ user, length: small.length })), small]),
      ]
      const { all, closed } = await rawRequest({ port: service.port, send, responses: 2 })
      expect({ statuses: all.map(({ status }) => status), closed }).toEqual({
        statuses: [200],
        closed: true,
      })
      const reply = await download(service, { user })
      expect(reply.body.length).toBe(MIB)
    })

    it('a request that expects what nobody knows is refused', async () => {
      const { user } = placed
      const headers = { Expect: 'banana' }
      const reply = await upload(service, { user, content: 'new', headers })
      expectProblem(reply, MALFORMED)
      await expectUntouched(service, placed)
    })

    it('a request in a transfer coding besides chunks is refused', async () => {
      const { user } = placed
      const head = headOf({ user, length: undefined }).replace(': chunked', ': gzip, chunked')
      const send = [head, httpChunk(form), httpChunk('')]
      expectProblem(await rawRequest({ port: service.port, send }), MALFORMED)
      await expectUntouched(service, placed)
    })

    it('gives back what its upload has reserved, though its client keeps its side open', async () => {
      const { userId, cookie } = placed.user
      const client = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true })
      const head = `PUT ${pathOf('new.bin')} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n`
      client.on('error', () => undefined).resume()
      client.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
      client.write(httpChunk(Buffer.alloc(40_000)))
      const reserved = async () => (await readUsage(service.ledger, userId))?.reserved
      await expect.poll(reserved).toBeGreaterThan(0)
      client.write('not a chunk')
      // Its own deadline for a body that stops coming is 10 s.
      await expect.poll(reserved, { timeout: 6_000 }).toBe(0)
      client.destroy()
    })

    it('leaves the service to others', async () => {
      const bytes = Array.from({ length: 20 }, () => randomBytes(2000))
      await Promise.all(
        bytes.map((send) => rawRequest({ port: service.port, send: [send, '\r\n\r\n'] })),
      )
      await expectUntouched(service, placed)
    })
  })
}

/** What comes after the head of the answer, read only when all has been sent and some time has passed. */
async function bodyReadLate(request: { port: number; send: Piece[] }): Promise<Buffer> {
  const send = [...request.send, { pauseMs: 200 }]
  const { received } = await rawRequest({ ...request, send, readLate: true, timeoutMs: 25_000 })
  return received.subarray(received.indexOf('\r\n\r\n') + 4)
}
