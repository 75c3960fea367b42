import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { digest } from '../../support/objects.ts'
import { httpChunk } from '../../support/http/multipart-body.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  ask,
  bodyOf,
  download,
  expectOnlyObjectsOf,
  expectNothingChanged,
  expectProblem,
  expectUntouched,
  FORM_TYPE,
  headOf,
  jsonOf,
  MIB,
  type OpenService,
  pathOf,
  type Placed,
  placeFile,
  SHORT_LINGER,
  upload,
  usageOf,
} from '../fixture.ts'

const METHOD = 'PUT'
const MALFORMED = { status: 400, code: 'format_error' } as const
const SIZES = { '0 B': 0, '1 B': 1, '64 KiB': 65_536, '5 MiB + 1': 5 * MIB + 1, '20 MiB': 20 * MIB }

/** What only a `PUT` does: the body of the request is the file. */
export function rawUploadsSuite(open: OpenService): void {
  describe('a file that is the whole body', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    describe.each(Object.entries(SIZES))('of %s', (_, size) => {
      it.each([
        ['a Content-Length', false],
        ['chunks', true],
      ])('comes back with every byte, sent with %s (I1)', async (_how, chunked) => {
        const { user } = placed
        const content = randomBytes(size)
        const reply = await upload(service, { method: METHOD, user, content, chunked })
        expect(reply.status).toBe(200)
        expect(jsonOf(reply)).toMatchObject({ size, sha256: digest(content), replaced: true })
        const found = await download(service, { user })
        expect(found.headers).toMatchObject({
          'content-length': `${size}`,
          etag: String(reply.headers['etag']),
        })
        expect(found.body.equals(content)).toBe(true)
      })
    })

    it('is answered with exactly the members of a form, and with the ETag', async () => {
      const { user } = placed
      const form = await upload(service, { user, name: 'form', content: 'hello' })
      const raw = await upload(service, { method: METHOD, user, name: 'raw', content: 'hello' })
      const differing = { name: 0, etag: 0, version: 0, created_at: 0, updated_at: 0, capacity: 0 }
      expect({ ...jsonOf(raw), ...differing }).toEqual({ ...jsonOf(form), ...differing })
      expect(raw.headers['etag']).toBe(`"${String(jsonOf(raw)['etag'])}"`)
      expect(raw.headers['content-type']).toMatch(/^application\/json(;|$)/)
    })

    it.each([
      ['with Content-Length: 0', { 'Content-Length': '0' }],
      ['without a word of a body', {}],
      ['with a type alone', { 'Content-Type': 'text/plain' }],
      ['that expects 100-continue', { Expect: '100-continue', 'Content-Length': '0' }],
    ])('a request %s makes an empty file', async (_what, headers) => {
      const { user } = placed
      const reply = await ask(service, { user, method: METHOD, path: pathOf('file.bin'), headers })
      expect(jsonOf(reply)).toMatchObject({ size: 0, sha256: digest(Buffer.alloc(0)) })
      const found = await download(service, { user })
      expect(found).toMatchObject({ status: 200, headers: { 'content-length': '0' } })
      expect(await usageOf(service, user)).toMatchObject({ used: 0, fileCount: 1 })
    })

    it('takes identical bytes again without using more, at 100 % too', async () => {
      const full = await placeFile(service, { capacity: 1000, size: 1000 })
      const { user, content } = full
      const first = { capacity: { capacity: 1000, used: 1000, reserved: 0, available: 0 } }
      for (const chunked of [false, true]) {
        const again = await upload(service, { method: METHOD, user, content, chunked })
        expect(jsonOf(again)).toMatchObject({ ...first, sha256: digest(content), replaced: true })
      }
      await expectOnlyObjectsOf(service, { user, names: ['file.bin'] })
    })

    it('keeps the old file when a chunk that does not fit comes (I2)', async () => {
      const full = await placeFile(service, { capacity: 100_000, size: 60_000 })
      const send = [
        headOf({ method: METHOD, user: full.user, length: undefined }),
        httpChunk(randomBytes(100_000)),
        { pauseMs: 100 },
        httpChunk('x'),
        { pauseMs: 9000 },
      ]
      const reply = await rawRequest({ port: service.port, send, timeoutMs: 8000 })
      expectProblem(reply, { status: 403, code: 'capacity_exceeded' })
      await expectUntouched(service, full)
    })
  })
}

/** What the head of a `PUT` says of its body, or may not say. */
export function rawHeadersSuite(open: OpenService): void {
  describe('the head of a file that is the whole body', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it.each([
      ['no type', {}],
      ['an empty type', { 'Content-Type': '' }],
      ['a type that is none', { 'Content-Type': ';;;' }],
      ['JSON', { 'Content-Type': 'application/json' }],
      ['a type of 4000 bytes', { 'Content-Type': `x/${'y'.repeat(4000)}` }],
      ['the encoding "identity"', { 'Content-Encoding': 'identity' }],
    ])('a head with %s is stored as it is', async (_what, headers) => {
      const { user } = placed
      const content = Buffer.from('{"no json')
      const reply = await upload(service, { method: METHOD, user, content, headers })
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
      const found = await download(service, { user })
      expect(found.headers['content-type']).toBe('application/octet-stream')
      expect(found.body.equals(content)).toBe(true)
    })

    it('is stored as it is when it is a form by its type', async () => {
      const { user } = placed
      const content = bodyOf('inside', 'POST')
      const headers = { 'Content-Type': FORM_TYPE }
      expect((await upload(service, { method: METHOD, user, content, headers })).status).toBe(200)
      expect((await download(service, { user })).body.equals(content)).toBe(true)
    })

    it.each(['PUT', 'POST'] as const)('is never a part of a file (%s)', async (method) => {
      const { user } = placed
      for (const complete of ['?0', '', '1', '?1, ?1', '?1;']) {
        const headers = { 'Upload-Complete': complete }
        const reply = await upload(service, { method, user, content: 'part', headers })
        const problem = expectProblem(reply, { status: 400, code: 'invalid_parameter' })
        expect(problem['parameter']).toBe('Upload-Complete')
      }
      await expectUntouched(service, placed)
      const headers = { 'Upload-Complete': '?1' }
      expect((await upload(service, { method, user, content: 'whole', headers })).status).toBe(200)
    })

    it.each([
      ['Content-Encoding: gzip', { 'Content-Encoding': 'gzip' }],
      ['an unknown Content-Encoding', { 'Content-Encoding': 'x' }],
      ['Content-Range', { 'Content-Range': 'bytes 0-2/3' }],
      ['a Content-Range that is none', { 'Content-Range': '' }],
    ])('a head with %s is refused, asked first or not (I2)', async (_what, headers) => {
      const { user } = placed
      expectProblem(
        await upload(service, { method: METHOD, user, content: 'new', headers }),
        MALFORMED,
      )
      const asking = { ...headers, Expect: '100-continue' }
      const head = headOf({ method: METHOD, user, length: 3, headers: asking })
      const reply = await rawRequest({ port: service.port, send: [head], timeoutMs: 8000 })
      expectProblem(reply, MALFORMED)
      expect(reply.all).toHaveLength(1)
      expectNothingChanged(service, placed)
    })
  })
}
