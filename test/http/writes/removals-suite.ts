import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bytesOf } from '../../support/objects.ts'
import { type Piece, rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { namesOf, remove } from '../file-requests.ts'
import {
  download,
  expectOnlyObjectsOf,
  expectNothingChanged,
  expectProblem,
  MIB,
  type OpenService,
  pathOf,
  type Placed,
  placeFile,
  SHORT_LINGER,
  startDownload,
  upload,
  usageOf,
} from '../fixture.ts'

/** The largest body that is taken, without its end. */
const LONG_CHUNK = `Transfer-Encoding: chunked\r\n\r\n10000\r\n${'x'.repeat(65_536)}\r\n`

const NOT_FOUND = { status: 404, code: 'not_found' } as const

/** What `DELETE` does. */
export function removalsSuite(open: OpenService): void {
  describe('a removal', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service, { capacity: 100_000, size: 60_000 })
    })

    it('frees the bytes at once and the object with the next sweep', async () => {
      const { user } = placed
      await upload(service, { method: 'PUT', user, name: 'kept', content: 'kept' })
      const reply = await remove(service, { user })
      expect(reply).toMatchObject({ status: 204, body: Buffer.alloc(0), closed: false })
      expect(await usageOf(service, user)).toMatchObject({ used: 4, reserved: 0, fileCount: 1 })
      expectProblem(await download(service, { user }), NOT_FOUND)
      expect(await namesOf(service, { user })).toEqual(['kept'])
      const next = { user, name: 'next', content: randomBytes(99_996) }
      expect((await upload(service, { method: 'PUT', ...next })).status).toBe(200)
      await expectOnlyObjectsOf(service, { user, names: ['kept', 'next'] })
    })

    it('lets a file of the same name begin anew', async () => {
      const { user } = placed
      await upload(service, { user, query: '?visibility=public', content: 'old' })
      await remove(service, { user })
      const reply = await upload(service, { method: 'PUT', user, content: 'new' })
      expect(JSON.parse(reply.body.toString())).toMatchObject({
        replaced: false,
        visibility: 'private',
      })
    })

    it('I9 is refused to a client that sends 5 MB, which it can read afterwards', async () => {
      const { user } = placed
      const path = pathOf('file.bin')
      const head = `DELETE ${path} HTTP/1.1\r\nHost: x\r\nCookie: ${user.cookie}\r\n`
      const body = Buffer.alloc(5 * MIB)
      const send = [`${head}Content-Length: ${body.length}\r\n\r\n`, body]
      const reply = await rawRequest({ port: service.port, send, readLate: true })
      expectProblem(reply, { status: 400, code: 'format_error' })
    })

    it('lets a download that has begun go on to its last byte (I1)', async () => {
      const { user, content } = await placeFile(service, { size: 16 * MIB })
      const under = await startDownload(service, { user })
      expect((await remove(service, { user })).status).toBe(204)
      const sweep = service.sweep()
      // A store may let the removal wait for its reader, so the sweep gets time but need not end first.
      await Promise.race([sweep, delay(1000)])
      expect((await bytesOf(under)).equals(content)).toBe(true)
      await sweep
      expectProblem(await download(service, { user }), NOT_FOUND)
      await expectOnlyObjectsOf(service, { user, names: [] })
    })
  })
}

/** A removal that is refused above the ports: nothing is called that could change anything. */
export function refusedRemovalsSuite(open: OpenService): void {
  describe('a removal that is refused', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ idleTimeoutMs: 1_000, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service, { capacity: 100_000, size: 60_000 })
    })

    const chunked = 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'
    it.each<[string, [string, ...Piece[]]]>([
      ['malformed', [`${chunked}zz\r\n`]],
      ['malformed at a later moment', [chunked, { pauseMs: 50 }, 'zz\r\n']],
      ['cut off', ['Content-Length: 5\r\n\r\nhell']],
      ['endless', [`Content-Length: 50000000\r\n\r\n${'x'.repeat(100_000)}`]],
      ['a byte too large', [`Content-Length: 65537\r\n\r\n${'x'.repeat(65_537)}`]],
      ['a byte too large in chunks', [`${LONG_CHUNK}1\r\nx\r\n0\r\n\r\n`]],
    ])('H09 with a body that is %s is refused, and removes nothing (I2)', async (_what, pieces) => {
      const { user } = placed
      const head = `DELETE ${pathOf('file.bin')} HTTP/1.1\r\nHost: x\r\nCookie: ${user.cookie}\r\n`
      const [first, ...others] = pieces
      const send = [head + first, ...others]
      const reply = await rawRequest({ port: service.port, send, afterwards: 'end' })
      expect(reply.status).toBe(400)
      expectNothingChanged(service, placed)
    })

    it('I9 with a body that drips for longer than the idle timeout is refused and removes nothing (I2)', async () => {
      const head = `DELETE ${pathOf('file.bin')} HTTP/1.1\r\nHost: x\r\nCookie: ${placed.user.cookie}\r\n`
      const drops = Array.from({ length: 30 }, (): Piece[] => ['x'.repeat(200), { pauseMs: 50 }])
      const send = [`${head}Content-Length: 6000\r\n\r\n`, ...drops.flat()]
      const reply = await rawRequest({ port: service.port, send })
      expectProblem(reply, { status: 408, code: 'request_timeout' })
      expectNothingChanged(service, placed)
    })

    it.each([
      ['as large as can be', `Content-Length: 65536\r\n\r\n${'x'.repeat(65_536)}`],
      ['with a length', 'Content-Length: 5\r\n\r\nhello'],
      ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'],
      ['of nothing', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
      ['that waits to be asked for', 'Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello'],
    ])('does not mind a body %s', async (_what, rest) => {
      const { user } = placed
      const head = `DELETE ${pathOf('file.bin')} HTTP/1.1\r\nHost: x\r\nCookie: ${user.cookie}\r\n`
      const reply = await rawRequest({ port: service.port, send: [head + rest] })
      expect(reply).toMatchObject({ status: 204, closed: false })
    })
  })
}
