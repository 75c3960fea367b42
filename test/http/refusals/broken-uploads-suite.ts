import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fileBody, filePart, httpChunk, multipartBody } from '../../support/http/multipart-body.ts'
import { type Piece, rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { acceptedForms, refusedForms, refusedTypes } from './broken-forms.ts'
import {
  bodyOf,
  download,
  expectProblem,
  expectUntouched,
  FORM_TYPE,
  headOf,
  jsonOf,
  MIB,
  type OpenService,
  type Placed,
  placeFile,
  SHORT_LINGER,
  upload,
  uploadPieces,
} from '../fixture.ts'

/**
 * Rows A01 to A27 of the list of bad input: forms that are judged above the ports, with a file in place that must
 * survive.
 */
export function brokenUploadsSuite(open: OpenService): void {
  describe('a broken upload', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it.each(refusedTypes())('%s is refused and changes nothing (I2)', async (_row, type) => {
      const { user } = placed
      const form = fileBody('new')
      const head = headOf({ user, length: form.length })
      const line = type === undefined ? '' : `Content-Type: ${type}\r\n`
      const send = [head.replace(`Content-Type: ${FORM_TYPE}\r\n`, line), form]
      const reply = await rawRequest({ port: service.port, send })
      expectProblem(reply, { status: 400, code: 'format_error' })
      await expectUntouched(service, placed)
    })

    it('A02 with a boundary that is not the one in the body changes nothing (I2)', async () => {
      const form = fileBody('new', { boundary: 'another' })
      const reply = await upload(service, { user: placed.user, form })
      expectProblem(reply, { status: 400, code: 'truncated_body' })
      await expectUntouched(service, placed)
    })

    describe.each([
      ['with a Content-Length', false],
      ['in chunks', true],
    ])('%s', (_how, chunked) => {
      it.each(refusedForms())(
        '%s is refused and changes nothing (I2)',
        async (_row, code, form) => {
          const reply = await upload(service, { user: placed.user, form, chunked })
          expectProblem(reply, { status: 400, code })
          await expectUntouched(service, placed)
        },
      )

      it.each([0, 100, 300])(
        'A07 a second file that comes after %i ms changes nothing (I2)',
        async (pauseMs) => {
          const form = multipartBody([filePart('first'), filePart('second')])
          const at = form.indexOf('first') + 'first'.length
          const pieces = slowly({ user: placed.user, form, chunked }, [at, { pauseMs }])
          const reply = await rawRequest({ port: service.port, send: pieces })
          expectProblem(reply, { status: 400, code: 'multiple_file_parts' })
          await expectUntouched(service, placed)
        },
      )
    })

    it.each(acceptedForms())('%s is none: its file is stored', async (_row, content, sent) => {
      const { user } = placed
      const reply = await upload(service, { user, ...sent })
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
      expect(jsonOf(reply)).toMatchObject({ size: content.length, replaced: true })
      const found = await download(service, { user })
      expect(found.headers['content-length']).toBe(`${content.length}`)
      expect(found.body.equals(content)).toBe(true)
      const next = { user, name: 'file.bin', content, etag: String(found.headers['etag']) }
      await expectUntouched(service, next)
    })

    it.each(['gzip', 'br', 'identity, gzip'])(
      'A27 with the encoding "%s" is refused and changes nothing (I2)',
      async (encoding) => {
        const headers = { 'Content-Encoding': encoding }
        const reply = await upload(service, { user: placed.user, content: 'new', headers })
        expectProblem(reply, { status: 400, code: 'format_error' })
        await expectUntouched(service, placed)
      },
    )

    it('A16 of 900 fields of 1 MiB before the file takes little memory', async () => {
      const { user } = placed
      const mebibyte = Buffer.alloc(MIB, 'x')
      function* pieces(): Generator<Piece> {
        yield headOf({ user, length: undefined })
        for (let at = 0; at < 900; at += 1) {
          const head = `--XBOUNDARY\r\nContent-Disposition: form-data; name="f${at}"\r\n\r\n`
          yield httpChunk(head)
          yield `${MIB.toString(16)}\r\n`
          yield mebibyte
          yield '\r\n'
          yield httpChunk('\r\n')
        }
        yield httpChunk(fileBody('new'))
        yield httpChunk('')
      }
      const before = process.memoryUsage.rss()
      const reply = await rawRequest({ port: service.port, send: pieces() })
      expect(process.memoryUsage.rss() - before).toBeLessThan(128 * MIB)
      expectProblem(reply, { status: 400, code: 'format_error' })
      expect(reply.closed).toBe(true)
      await expectUntouched(service, placed)
    })

    it('A22 with an epilogue without end is refused and closed', async () => {
      const { user } = placed
      const form = fileBody('new')
      function* pieces(): Generator<Piece> {
        yield headOf({ user, length: undefined })
        yield httpChunk(form)
        for (;;) yield httpChunk(Buffer.alloc(16_384, 'epilogue'))
      }
      const reply = await rawRequest({ port: service.port, send: pieces() })
      expectProblem(reply, { status: 400, code: 'format_error' })
      expect(reply.closed).toBe(true)
      await expectUntouched(service, placed)
    })

    it('A25 of 10 MB of almost boundaries stalls nobody and is stored byte-exact', async () => {
      const { user } = placed
      const content = Buffer.alloc(10_000_000, '\r\n--XBOUND')
      const form = fileBody(content)
      const stall = monitorEventLoopDelay({ resolution: 5 })
      stall.enable()
      const reply = await upload(service, { user, form })
      stall.disable()
      expect(reply.status).toBe(200)
      expect((await download(service, { user })).body.equals(content)).toBe(true)
      // Well above what a machine under load does by itself, well below what a search that starts over takes.
      expect(stall.max / 1e6).toBeLessThan(1000)
    })
  })
}

/** Uploads that begin, and end before their last byte: what they had reserved and written goes. */
export function cutOffUploadsSuite(open: OpenService): void {
  cutUploadsSuite(open)
  cutFormsSuite(open)
}

/** Uploads whose bytes stop somewhere. */
function cutUploadsSuite(open: OpenService): void {
  describe.each(['POST', 'PUT'] as const)('a %s that is cut off', (method) => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ idleTimeoutMs: 400, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    const form = bodyOf('content', method)
    const offsets = Array.from({ length: form.length }, (_, at) => at)

    it.each(['end', 'reset'] as const)(
      'A05 H01 at any byte by a client that goes (%s) changes nothing (I2)',
      async (afterwards) => {
        const { user } = placed
        const statuses = await atEach(offsets, async (at) => {
          const send = [headOf({ method, user, length: form.length }), form.subarray(0, at)]
          return (await rawRequest({ port: service.port, send, afterwards })).status
        })
        expect(statuses.filter((status) => status !== 400 && status !== 0)).toEqual([])
        await expectUntouched(service, placed)
      },
    )

    it('D06 by a client that announced a byte more and leaves changes nothing (I2)', async () => {
      const send = [headOf({ method, user: placed.user, length: form.length + 1 }), form]
      const reply = await rawRequest({ port: service.port, send, afterwards: 'end' })
      expect([0, 400]).toContain(reply.status)
      await expectUntouched(service, placed)
    })

    it('H03 by a client that falls silent, wherever that is, gets 408', async () => {
      const { user } = placed
      const head = headOf({ method, user, length: form.length })
      const places = [0, form.length >> 1, form.indexOf('content') + 3, form.length - 1]
      const beginnings: Piece[][] = places.map((at) => [head, form.subarray(0, at)])
      beginnings.push([
        headOf({ method, user, length: undefined }),
        httpChunk(form.subarray(0, -4)),
      ])
      const silent = beginnings.map((send) => rawRequest({ port: service.port, send }))
      for (const reply of await Promise.all(silent)) {
        expectProblem(reply, { status: 408, code: 'request_timeout' })
        expect(reply.closed).toBe(true)
      }
      await expectUntouched(service, placed)
    })

    it.each(['end', 'reset'] as const)(
      'H01 at random bytes of a big body by a client that goes (%s) changes nothing (I2)',
      async (afterwards) => {
        const { user } = placed
        const big = bodyOf(randomBytes(12 * MIB), method)
        const some = Array.from({ length: 6 }, () => Math.floor(Math.random() * big.length))
        const statuses = await atEach(some, async (at) => {
          const send = [headOf({ method, user, length: big.length }), big.subarray(0, at)]
          return (await rawRequest({ port: service.port, send, afterwards })).status
        })
        expect(statuses, `cut at ${some.join(', ')}`).not.toContain(200)
        await expectUntouched(service, placed)
      },
    )
  })
}

/** What a form lacks at its end; a body that is the file itself has no end to lack. */
function cutFormsSuite(open: OpenService): void {
  describe('a form that ends too early', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ idleTimeoutMs: 400 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    const form = fileBody('content')
    // Without the line break after the closing delimiter a form is whole.
    const ending = Array.from({ length: form.length }, (_, at) => at).filter(
      (at) => at !== form.length - 2,
    )

    it('A05 A06 at any byte by the last chunk is refused and changes nothing (I2)', async () => {
      const { user } = placed
      const statuses = await atEach(ending, async (at) => {
        const send = uploadPieces({ user, form: form.subarray(0, at), chunked: true })
        const reply = await rawRequest({ port: service.port, send })
        expectProblem(reply, { status: 400, code: 'truncated_body' })
        return reply.status
      })
      expect(new Set(statuses)).toEqual(new Set([400]))
      await expectUntouched(service, placed)
    })

    it('A05 D06 at any byte by its Content-Length is refused and changes nothing (I2)', async () => {
      const { user } = placed
      await atEach(ending, async (at) => {
        const send = uploadPieces({ user, form: form.subarray(0, at) })
        const reply = await rawRequest({ port: service.port, send })
        expectProblem(reply, { status: 400, code: 'truncated_body' })
      })
      await expectUntouched(service, placed)
    })

    it('D06 by a Content-Length shorter than what follows changes nothing (I2)', async () => {
      const { user } = placed
      await atEach(
        ending.filter((at) => at > 0),
        async (at) => {
          const send = [headOf({ user, length: at }), form]
          const reply = await rawRequest({ port: service.port, send })
          // What follows is no request, and closing the connection for it can overtake the answer.
          expect([0, 400]).toContain(reply.status)
        },
      )
      await expectUntouched(service, placed)
    })

    it('A05 at random bytes of a big form by the last chunk changes nothing (I2)', async () => {
      const { user } = placed
      const big = fileBody(randomBytes(12 * MIB))
      const some = Array.from({ length: 4 }, () => Math.floor(Math.random() * (big.length - 2)))
      await atEach(some, async (at) => {
        const reply = await upload(service, { user, form: big.subarray(0, at), chunked: true })
        expectProblem(reply, { status: 400, code: 'truncated_body' })
      })
      await expectUntouched(service, placed)
    })
  })
}

/** Calls `work` for every item, a few at a time. */
async function atEach<T>(
  items: readonly number[],
  work: (item: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  for (let at = 0; at < items.length; at += PARALLEL) {
    results.push(...(await Promise.all(items.slice(at, at + PARALLEL).map(work))))
  }
  return results
}

const PARALLEL = 12

/** The pieces of an upload with a pause after `at` bytes of the form. */
function slowly(
  { user, form, chunked }: { user: Placed['user']; form: Buffer; chunked: boolean },
  [at, pause]: readonly [number, Piece],
): Piece[] {
  const frame = chunked ? httpChunk : (bytes: Buffer) => bytes
  return [
    headOf({ user, length: chunked ? undefined : form.length }),
    frame(form.subarray(0, at)),
    pause,
    frame(form.subarray(at)),
    ...(chunked ? [httpChunk('')] : []),
  ]
}
