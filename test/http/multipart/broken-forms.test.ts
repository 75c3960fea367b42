import { afterEach, describe, expect, test } from 'vitest'
import {
  BOUNDARY,
  fileBody,
  filePart,
  httpChunk,
  multipartBody,
  repeated,
  uploadHead,
} from '../../support/http/multipart-body.ts'
import { rawRequest, type Piece } from '../../support/http/raw-http.ts'
import {
  codeOf,
  eventually,
  receivedOf,
  sha256,
  startFormApp,
  type FormAppOptions,
} from './file-form-app.ts'

type FormApp = Awaited<ReturnType<typeof startFormApp>>

let service: FormApp | undefined

afterEach(async () => {
  await service?.close()
  service = undefined
})

async function start(options?: FormAppOptions): Promise<FormApp> {
  service = await startFormApp(options)
  return service
}

interface Post {
  readonly body: Buffer
  readonly headers?: Record<string, string>
  readonly boundary?: string
  readonly length?: number
}

/** Sends a form with its Content-Length, in one piece. */
async function post({ body, length = body.length, ...head }: Post, options?: FormAppOptions) {
  const { port } = await start(options)
  return rawRequest({ port, send: [uploadHead({ path: '/upload', length, ...head }), body] })
}

/** Sends a form chunked, one chunk for every piece. */
async function postChunked(pieces: readonly Piece[], options?: FormAppOptions) {
  const { port } = await start(options)
  const chunks = pieces.map((piece) =>
    typeof piece === 'string' || piece instanceof Uint8Array ? httpChunk(piece) : piece,
  )
  return rawRequest({ port, send: [uploadHead({ path: '/upload' }), ...chunks, httpChunk('')] })
}

const EACH = [1, 7, 1000]

function split(body: Buffer, size: number): Buffer[] {
  const pieces = Math.ceil(body.length / size)
  return Array.from({ length: pieces }, (_, i) => body.subarray(i * size, (i + 1) * size))
}

describe('headers', () => {
  test.each([
    ['A01: no boundary', 'multipart/form-data'],
    ['A02: an empty boundary', 'multipart/form-data; boundary='],
    ['A02: an empty quoted boundary', 'multipart/form-data; boundary=""'],
    ['A02: a boundary with a forbidden character', 'multipart/form-data; boundary="a{b"'],
    ['A02: a boundary that ends in a space', 'multipart/form-data; boundary="a "'],
    ['A02: an open quote', 'multipart/form-data; boundary="a'],
    ...[71, 252, 256, 300, 4000].map((n) => [
      `A03: a boundary of ${n} characters`,
      `multipart/form-data; boundary=${'x'.repeat(n)}`,
    ]),
    ['A14: JSON', 'application/json'],
    ['A14: raw bytes', 'application/octet-stream'],
    ['A14: multipart/mixed', `multipart/mixed; boundary=${BOUNDARY}`],
    ['A14: a longer media type', `multipart/form-data-x; boundary=${BOUNDARY}`],
  ])('%s', async (_what, type) => {
    const reply = await post({ body: fileBody('abc'), headers: { 'Content-Type': type } })
    expect(codeOf(reply)).toBe('400 format_error')
  })

  test('A14: no content type', async () => {
    const { port } = await start()
    const head = uploadHead({ path: '/upload', length: 3 }).replace(/Content-Type.*\r\n/, '')
    expect(codeOf(await rawRequest({ port, send: [head, 'abc'] }))).toBe('400 format_error')
  })

  test('A02: a boundary that is not the form’s', async () => {
    const reply = await post({ body: fileBody('abc'), boundary: 'other' })
    expect(codeOf(reply)).toBe('400 truncated_body')
  })

  test.each([
    ['the first of two boundaries', `multipart/form-data; boundary=${BOUNDARY}; boundary=other`],
    ['a quoted boundary', `multipart/form-data; boundary="${BOUNDARY}"`],
    ['any case, other parameters', `Multipart/FORM-Data;charset=utf-8; BOUNDARY=${BOUNDARY};`],
  ])('A04: %s', async (_what, type) => {
    const reply = await post({ body: fileBody('abc'), headers: { 'Content-Type': type } })
    expect(receivedOf(reply)).toMatchObject({ size: 3, sha256: sha256('abc') })
  })

  test('A04: every character that a boundary may have', async () => {
    const boundary = "'()+_,-./:=? 09AZaz"
    const reply = await post({
      body: fileBody('abc', { boundary }),
      headers: { 'Content-Type': `multipart/form-data; boundary="${boundary}"` },
    })
    expect(receivedOf(reply)).toMatchObject({ size: 3, sha256: sha256('abc') })
  })

  test.each(['gzip', 'br', 'identity, gzip'])('A27: Content-Encoding %s', async (encoding) => {
    const headers = { 'Content-Encoding': encoding }
    expect(codeOf(await post({ body: fileBody('abc'), headers }))).toBe('400 format_error')
  })

  test('A27: Content-Encoding identity is none', async () => {
    const reply = await post({ body: fileBody('abc'), headers: { 'Content-Encoding': 'identity' } })
    expect(reply.status).toBe(200)
  })
})

describe('the form', () => {
  const whole = fileBody('abc'.repeat(1000))
  const cut = whole.subarray(0, whole.length / 2)
  const beforeEnd = whole.subarray(0, whole.lastIndexOf('\r\n--'))

  test.each([
    ['A05: cut in the middle of the file', cut],
    ['A06: cut between the file and the closing delimiter', beforeEnd],
    ['A06: cut in the closing delimiter', whole.subarray(0, -3)],
    ['A13: an empty body', Buffer.alloc(0)],
    ['A20: a field cut off', multipartBody([{ name: 'x', content: 'y' }]).subarray(0, -14)],
  ])('%s', async (_what, body) => {
    expect(codeOf(await post({ body }))).toBe('400 truncated_body')
    await service?.close()
    expect(codeOf(await postChunked(split(body, 400)))).toBe('400 truncated_body')
  })

  const field = { name: 'x', content: 'y' }
  const named = (disposition: string, more = '') =>
    multipartBody([
      { head: `Content-Disposition: form-data; ${disposition}${more}`, content: 'abc' },
    ])

  test.each([
    ['A08: two files', multipartBody([filePart('a'), filePart('b')]), 'multiple_file_parts'],
    ['A09: no file', multipartBody([field]), 'missing_file_part'],
    ['A09: another name', named('name="x"; filename="a"'), 'missing_file_part'],
    ['A09: no name', named('filename="a"'), 'format_error'],
    ['A10: no filename', named('name="file"'), 'missing_file_part'],
    [
      'A11: no filename, octet-stream',
      named('name="file"', '\r\nContent-Type: application/octet-stream'),
      'missing_file_part',
    ],
    ['A13: only the closing delimiter', multipartBody([]), 'missing_file_part'],
    ['A15: 1001 parts', multipartBody([filePart('a'), ...repeated(1000, field)]), 'format_error'],
    [
      'A15: the eleventh part cut off',
      multipartBody(repeated(11, field)).subarray(0, -20),
      'format_error',
    ],
    [
      'A17: a part head of 100 KiB',
      named('name="file"; filename="a"', `\r\nX: ${'y'.repeat(100 * 1024)}`),
      'format_error',
    ],
    [
      'A17: 2000 headers',
      named('name="file"; filename="a"', '\r\nX: y'.repeat(2000)),
      'format_error',
    ],
    [
      'A18: a field named __proto__',
      multipartBody([{ name: '__proto__', content: '' }, filePart('a')]),
      'format_error',
    ],
    ['A19: a head cut by the boundary', fileBody('a').subarray(0, 40), 'truncated_body'],
    [
      'A19: a head cut by the closing delimiter',
      Buffer.from(
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n--${BOUNDARY}--\r\n`,
      ),
      'format_error',
    ],
    [
      'A21: LF-only lines',
      Buffer.from(fileBody('a').toString().replaceAll('\r\n', '\n')),
      'format_error',
    ],
    [
      'A21: no line break before the boundary',
      Buffer.from(fileBody('a').toString().replace(`a\r\n--`, 'a--')),
      'truncated_body',
    ],
    [
      'A26: the boundary line inside the content',
      fileBody(`abc\r\n--${BOUNDARY}\r\ndef`),
      'format_error',
    ],
    [
      'A26: the closing line inside the content',
      fileBody(`abc\r\n--${BOUNDARY}--\r\ndef`),
      'format_error',
    ],
    [
      'A26: more than the boundary on a line',
      fileBody(`abc\r\n--${BOUNDARY}x\r\ndef`),
      'format_error',
    ],
    [
      'a field of broken JSON',
      multipartBody([
        {
          head: 'Content-Disposition: form-data; name="x"\r\nContent-Type: application/json',
          content: '{',
        },
        filePart('a'),
      ]),
      'format_error',
    ],
  ])('%s', async (_what, body, expected) => {
    expect(codeOf(await post({ body }))).toBe(`400 ${expected}`)
    await service?.close()
    expect(codeOf(await postChunked(split(body, 7000)))).toBe(`400 ${expected}`)
  })

  test('A07: a second file that comes 300 ms after the first', async () => {
    const body = multipartBody([filePart('first'), filePart('second')])
    const at = body.lastIndexOf('--XBOUNDARY\r\n')
    const reply = await postChunked([body.subarray(0, at), { pauseMs: 300 }, body.subarray(at)])
    expect(codeOf(reply)).toBe('400 multiple_file_parts')
    expect(service?.outcomes).toEqual(['multiple_file_parts'])
  })

  test('A06: a form that ends only in a half-closed connection', async () => {
    const { port, outcomes } = await start()
    const head = uploadHead({ path: '/upload', length: whole.length })
    const reply = await rawRequest({ port, send: [head, beforeEnd], afterwards: 'end' })
    expect([0, 400]).toContain(reply.status)
    await eventually(() => outcomes.length === 1)
    expect(outcomes).toEqual(['truncated_body'])
  })

  test('A16: 900 fields of 1 MiB are refused at the first, in little memory', async () => {
    const { port } = await start()
    const part = multipartBody([{ name: 'x', content: Buffer.alloc(2 ** 20, 'y') }]).subarray(
      0,
      -15,
    )
    const before = process.memoryUsage.rss()
    const send = [
      uploadHead({ path: '/upload', length: 900 * part.length }),
      ...Array<Buffer>(900).fill(part),
    ]
    expect(codeOf(await rawRequest({ port, send }))).toBe('400 format_error')
    expect(process.memoryUsage.rss() - before).toBeLessThan(32 * 2 ** 20)
  })

  test.each([
    ['A11: an empty filename', named('name="file"; filename=""'), 'abc'],
    ['A12: an empty file', fileBody(''), ''],
    ['A18: a header __proto__', named('name="file"; filename="a"', '\r\n__proto__: x'), 'abc'],
    [
      'A22: a preamble and an epilogue of 8 KB',
      fileBody('abc', { preamble: 'p'.repeat(8000), epilogue: `\r\n${'e'.repeat(8000)}` }),
      'abc',
    ],
    ['A22: no line break at the end', fileBody('abc', { epilogue: '' }), 'abc'],
    [
      'A23: a nested multipart/mixed',
      fileBody('--inner\r\nX: y\r\n\r\nabc\r\n--inner--\r\n'),
      '--inner\r\nX: y\r\n\r\nabc\r\n--inner--\r\n',
    ],
    ['A24: a filename that is a path', named('name="file"; filename="../../x"'), 'abc'],
    ['A24: a filename with quotes', named('name="file"; filename="a\\"b%22c%0D%0A"'), 'abc'],
    [
      'A24: a filename with RTL override',
      named('name="file"; filename="\u00e2\u0080\u00aegnp.exe"'),
      'abc',
    ],
    [
      'eight small fields around it',
      multipartBody([field, field, filePart('abc'), ...repeated(6, field)]),
      'abc',
    ],
    [
      'a field of 20 KB',
      multipartBody([{ name: 'x', content: 'y'.repeat(20_000) }, filePart('abc')]),
      'abc',
    ],
  ])('%s', async (_what, body, content) => {
    const expected = { size: content.length, sha256: sha256(content) }
    expect(receivedOf(await post({ body }))).toMatchObject(expected)
    for (const size of EACH) {
      await service?.close()
      expect(receivedOf(await postChunked(split(body, size)))).toMatchObject(expected)
    }
  })

  test('A24: a filename with a line break', async () => {
    const reply = await post({ body: named('name="file"; filename="a\r\nb"') })
    expect(codeOf(reply)).toBe('400 format_error')
  })

  test('A22: an epilogue that comes in pieces, just within the budget', async () => {
    const body = fileBody('abc', { epilogue: `\r\n${'e'.repeat(65_000)}` })
    for (const size of [500, 30_000]) {
      expect(receivedOf(await postChunked(split(body, size)))).toMatchObject({ size: 3 })
      await service?.close()
    }
  })

  test('A22: an epilogue without end is refused after the budget', async () => {
    const { port } = await start()
    function* send() {
      yield uploadHead({ path: '/upload' })
      yield httpChunk(fileBody('abc'))
      for (let i = 0; i < 10_000; i += 1) yield httpChunk(Buffer.alloc(16 * 1024))
    }
    expect(codeOf(await rawRequest({ port, send: send() }))).toBe('400 format_error')
  })

  test('A25: 10 MB of near-boundary bytes arrive as they are', async () => {
    const content = Buffer.alloc(10_000_000, '\r\n--XBOUND')
    const reply = await post({ body: fileBody(content) })
    expect(receivedOf(reply)).toMatchObject({ size: content.length, sha256: sha256(content) })
  })
})

describe('sizes', () => {
  test.each([0, 1, 3000, 200_000])('D01: the announced size of %d bytes is exact', async (size) => {
    const content = Buffer.alloc(size, 'x')
    const min = Math.max(0, fileBody(content).length - 64 * 1024)
    expect(receivedOf(await post({ body: fileBody(content) }))).toMatchObject({
      size,
      announced: size,
      min,
    })
  })

  test('D01: with fields before it, too', async () => {
    const body = multipartBody([{ name: 'x', content: 'y'.repeat(500) }, filePart('abc')])
    expect(receivedOf(await post({ body }))).toMatchObject({ size: 3, announced: 3 })
  })

  test('D01: a form that leaves out its last line break has two bytes more than announced', async () => {
    const reply = await post({ body: fileBody('abc', { epilogue: '' }) })
    expect(receivedOf(reply)).toMatchObject({ size: 3, announced: 1 })
  })

  test('D05: a chunked form announces nothing and is stopped in the middle of its content', async () => {
    expect(receivedOf(await postChunked([fileBody('abc')]))).toMatchObject({
      min: 0,
      announced: null,
    })
    await service?.close()
    const { port, outcomes } = await start({ maxBytes: 100_000 })
    const chunks = split(fileBody(Buffer.alloc(5_000_000)), 50_000).map(httpChunk)
    const reply = await rawRequest({
      port,
      send: [uploadHead({ path: '/upload' }), ...chunks, httpChunk('')],
    })
    expect(codeOf(reply)).toBe('403 capacity_exceeded')
    expect(outcomes).toEqual(['capacity_exceeded'])
  })

  test('D06: a Content-Length that is too small', async () => {
    const body = fileBody('abc')
    for (const length of [body.length - 3, body.length - 10, 50]) {
      // What is left over is no request, which Node may answer before the form is.
      expect((await post({ body, length })).status).toBe(400)
      await eventually(() => service?.outcomes.length === 1)
      expect(service?.outcomes).toEqual(['truncated_body'])
      await service?.close()
    }
  })

  test('D06: a Content-Length that is too large', async () => {
    const { port, outcomes } = await start({ idleTimeoutMs: 200 })
    const body = fileBody('abc')
    const send = [uploadHead({ path: '/upload', length: body.length + 10 }), body]
    expect(codeOf(await rawRequest({ port, send }))).toBe('408 request_timeout')
    expect([0, 400]).toContain((await rawRequest({ port, send, afterwards: 'end' })).status)
    await eventually(() => outcomes.length === 2)
    expect(outcomes).toEqual(['request_timeout', 'truncated_body'])
  })
})
