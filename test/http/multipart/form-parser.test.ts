import { isUtf8 } from 'node:buffer'
import fastifyMultipart from '@fastify/multipart'
import fastify from 'fastify'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../support/cpu-time.ts'
import { isAppError } from '../../../src/core/errors.ts'
import {
  FormParser,
  type FormField,
  MAX_OVERHEAD_BYTES,
} from '../../../src/http/multipart/form-parser.ts'
import {
  BOUNDARY,
  fileBody,
  filePart,
  multipartBody,
  repeated,
} from '../../support/http/multipart-body.ts'

const D = `--${BOUNDARY}`
const HEAD = 'Content-Disposition: form-data; name="file"; filename="a.bin"'
const FILE = `${D}\r\n${HEAD}\r\n\r\n`
const END = `\r\n${D}--\r\n`

interface Verdict {
  readonly verdict: string
  /** Of the file's content. */
  readonly offset: number | undefined
  /** Of the file's content, when its end was found. */
  readonly size: number | undefined
  readonly content: string
  readonly fields: readonly FormField[]
}

/** What a parser finds, and an outlet for the file's content. */
class Parsed {
  readonly parser: FormParser
  offset: number | undefined
  readonly pieces: Buffer[] = []
  hasEnded = false

  constructor(boundary = BOUNDARY) {
    this.parser = new FormParser(boundary, (offset) => (this.offset = offset))
  }

  write(chunk: Buffer): void {
    this.parser.write(chunk, this)
  }

  push(bytes: Buffer): void {
    if (this.hasEnded) throw new Error('content after its end')
    this.pieces.push(bytes)
  }

  end(): void {
    this.hasEnded = true
  }
}

function judge(chunks: readonly Buffer[], boundary = BOUNDARY): Verdict {
  const parsed = new Parsed(boundary)
  let verdict = 'accepted'
  try {
    for (const chunk of chunks) parsed.write(chunk)
    parsed.parser.end()
  } catch (error) {
    if (!isAppError(error)) throw error
    verdict = error.code
  }
  const { offset, pieces, hasEnded } = parsed
  const content = Buffer.concat(pieces).toString('latin1')
  const size = hasEnded ? content.length : undefined
  return { verdict, offset, size, content, fields: parsed.parser.fields }
}

function judgeText(body: string): string {
  return judge([Buffer.from(body, 'latin1')]).verdict
}

function byteByByte(body: Buffer): Buffer[] {
  return Array.from(body, (byte) => Buffer.of(byte))
}

describe('accepted', () => {
  test.each([
    ['a file', `${FILE}abc${END}`, 'abc'],
    ['an empty file', `${FILE}${END}`, ''],
    ['no line break after the closing delimiter', `${FILE}abc\r\n${D}--`, 'abc'],
    ['a preamble and an epilogue', `hello\r\n\r\n${FILE}abc${END}bye --XBOUND\r\n`, 'abc'],
    ['an empty preamble line', `\r\n${FILE}abc${END}`, 'abc'],
    [
      'no quotes',
      `${D}\r\nContent-Disposition: form-data; name=file; filename=x\r\n\r\nabc${END}`,
      'abc',
    ],
    [
      'any case',
      `${D}\r\ncontent-DISPOSITION:Form-Data;NAME="file";FileName=""\r\n\r\nabc${END}`,
      'abc',
    ],
    [
      'an extended file name',
      `${D}\r\n${HEAD}; filename*=utf-8''%e2%82%ac\r\n\r\nabc${END}`,
      'abc',
    ],
    ['a __proto__ header', `${D}\r\n__proto__: x\r\n${HEAD}\r\n\r\nabc${END}`, 'abc'],
    [
      'a transfer encoding that is none',
      `${D}\r\n${HEAD}\r\nContent-Transfer-Encoding: BINARY\r\n\r\nabc${END}`,
      'abc',
    ],
    ['content of line breaks', `${FILE}\r\n\r\n\n\r\r\n${END}`, '\r\n\r\n\n\r\r\n'],
    [
      'another boundary inside',
      `${FILE}--inner\r\n\r\n--inner--\r\n${END}`,
      '--inner\r\n\r\n--inner--\r\n',
    ],
    ['the boundary inside a line', `${FILE}a${D}\r\n\n${D}--\r\n${END}`, `a${D}\r\n\n${D}--\r\n`],
    [
      'an escaped quote',
      `${D}\r\nContent-Disposition: form-data; name="file"; filename="a\\"b;c"\r\n\r\nabc${END}`,
      'abc',
    ],
  ])('%s', (_what, body, content) => {
    const { verdict, offset = -1, size = -1, content: found } = judge([Buffer.from(body, 'latin1')])
    expect(verdict).toBe('accepted')
    expect(body.slice(offset, offset + size)).toBe(content)
    expect(found).toBe(content)
  })

  test('fields before and after the file, 100 in all', () => {
    const field = { name: 'x', content: 'y' }
    const parts = [...repeated(30, field), filePart('abc'), ...repeated(70, field)]
    expect(judge([multipartBody(parts)])).toMatchObject({ verdict: 'accepted', size: 3 })
  })

  test('overhead of exactly the budget, whatever the size of the file', () => {
    const content = Buffer.alloc(100_000, 'x')
    const room = MAX_OVERHEAD_BYTES - (fileBody('').length + 2)
    const of = (length: number) => fileBody(content, { preamble: 'p'.repeat(length) })
    expect(judge([of(room)])).toMatchObject({ verdict: 'accepted', size: 100_000 })
    expect(judge([of(room + 1)]).verdict).toBe('format_error')
  })
})

describe('refused', () => {
  const part = (head: string) => `${D}\r\n${head}\r\n\r\nabc${END}`
  test.each([
    ['nothing', '', 'truncated_body'],
    ['no delimiter', 'abc', 'truncated_body'],
    ['only the closing delimiter', `${D}--\r\n`, 'missing_file_part'],
    ['a field alone', part('Content-Disposition: form-data; name="x"'), 'missing_file_part'],
    [
      'a file under another name',
      part('Content-Disposition: form-data; name="x"; filename="a"'),
      'missing_file_part',
    ],
    ['no filename', part('Content-Disposition: form-data; name="file"'), 'missing_file_part'],
    ['two files', `${FILE}a\r\n${FILE}b${END}`, 'multiple_file_parts'],
    [
      'a file under another name after the file',
      `${FILE}a\r\n${part('Content-Disposition: form-data; name="x"; filename="a"')}`,
      'multiple_file_parts',
    ],
    ['no closing delimiter', `${FILE}abc`, 'truncated_body'],
    ['half a closing delimiter', `${FILE}abc\r\n${D}-`, 'truncated_body'],
    ['a delimiter and no more', `${FILE}abc\r\n${D}\r\n`, 'truncated_body'],
    ['half a line break at the end', `${FILE}abc\r\n${D}--\r`, 'truncated_body'],
    ['A26: a boundary line inside the content', `${FILE}abc\r\n${D}\r\ndef${END}`, 'format_error'],
    ['the boundary with more on its line', `${FILE}abc\r\n${D}def${END}`, 'format_error'],
    ['a closing delimiter inside the content', `${FILE}abc\r\n${D}--\r\ndef${END}`, 'format_error'],
    ['more on the closing line', `${FILE}abc\r\n${D}--def\r\n`, 'format_error'],
    ['one dash after the boundary', `${FILE}abc\r\n${D}-\r\n`, 'format_error'],
    ['space after the boundary', `${D} \r\n${HEAD}\r\n\r\nabc${END}`, 'format_error'],
    ['a boundary line right after another', `${D}\r\n${FILE}abc${END}`, 'format_error'],
    ['a boundary line right after the head', `${FILE}${D}--\r\n`, 'format_error'],
    ['a boundary line right after the closing one', `${FILE}abc${END}${D}--\r\n`, 'format_error'],
    ['A19: a head cut by a boundary line', `${D}\r\n${HEAD}\r\n${D}--\r\n`, 'format_error'],
    ['A21: LF alone after the boundary', `${D}\n${HEAD}\n\nabc\n${D}--\n`, 'format_error'],
    ['A21: LF alone in the head', `${D}\r\n${HEAD}\nX: y\r\n\r\nabc${END}`, 'format_error'],
    ['A21: LF alone after the closing delimiter', `${FILE}abc\r\n${D}--\n`, 'format_error'],
    ['an empty head', `${D}\r\n\r\nabc${END}`, 'format_error'],
    ['a line that is no header', part(`${HEAD}\r\nabc`), 'format_error'],
    ['a folded header', part(`${HEAD};\r\n x=y`), 'format_error'],
    ['a NUL in a header', part(`${HEAD}\r\nX: \0`), 'format_error'],
    ['no Content-Disposition', part('Content-Type: text/plain'), 'format_error'],
    ['two Content-Dispositions', part(`${HEAD}\r\n${HEAD}`), 'format_error'],
    [
      'another disposition',
      part('Content-Disposition: attachment; name="file"; filename="a"'),
      'format_error',
    ],
    ['no name', part('Content-Disposition: form-data; filename="a"'), 'format_error'],
    ['two names', part(`${HEAD}; name="x"`), 'format_error'],
    [
      'an extended name',
      part("Content-Disposition: form-data; name*=utf-8''file; filename=a"),
      'format_error',
    ],
    [
      'a line break in an extended file name',
      part(`${HEAD}; filename*=utf-8''a%0Ab`),
      'format_error',
    ],
    [
      'an open quote',
      part('Content-Disposition: form-data; name="file"; filename="a'),
      'format_error',
    ],
    [
      'a quote inside quotes',
      part('Content-Disposition: form-data; name="file"; filename="a"b"'),
      'format_error',
    ],
    ['base64', part(`${HEAD}\r\nContent-Transfer-Encoding: base64`), 'format_error'],
    [
      'two transfer encodings',
      part(`${HEAD}\r\n${'Content-Transfer-Encoding: 8bit\r\n'.repeat(2)}X: y`),
      'format_error',
    ],
    ['A17: 33 headers', part(`${HEAD}${'\r\nX: y'.repeat(32)}`), 'format_error'],
    ['A17: a head over 16 KiB', part(`${HEAD}\r\nX: ${'y'.repeat(16 * 1024)}`), 'format_error'],
    [
      '101 fields',
      `${`${D}\r\nContent-Disposition: form-data; name=x\r\n\r\n\r\n`.repeat(101)}${FILE}${END}`,
      'format_error',
    ],
    [
      'A22: an epilogue over the budget',
      `${FILE}abc${END}${'e'.repeat(MAX_OVERHEAD_BYTES)}`,
      'format_error',
    ],
    [
      'fields over the budget',
      `${FILE}abc\r\n${D}\r\nContent-Disposition: form-data; name=x\r\n\r\n${'y'.repeat(MAX_OVERHEAD_BYTES)}${END}`,
      'format_error',
    ],
    ['a preamble without end', 'p'.repeat(MAX_OVERHEAD_BYTES + 1), 'format_error'],
  ])('%s', (_what, body, code) => {
    expect(judgeText(body)).toBe(code)
    expect(judge(byteByByte(Buffer.from(body, 'latin1'))).verdict).toBe(code)
  })

  test('an epilogue is refused as soon as it passes the budget, not at its end', () => {
    const parsed = new Parsed()
    parsed.write(fileBody('abc'))
    const piece = Buffer.alloc(1024, 'e')
    expect(() => {
      for (let i = 0; i < 64; i += 1) parsed.write(piece)
    }).toThrow('besides the file')
  })
})

test('the offset of the content is known as soon as the head has passed', () => {
  const parsed = new Parsed()
  const head = Buffer.from(FILE)
  parsed.write(head.subarray(0, -1))
  expect(parsed.offset).toBeUndefined()
  parsed.write(head.subarray(-1))
  expect(parsed.offset).toBe(head.length)
  expect(parsed.hasEnded).toBe(false)
})

test('A25: near-boundary bytes pass, fast', () => {
  const content = Buffer.alloc(10 * 2 ** 20, '\r\n--XBOUND')
  const body = fileBody(content)
  const read = (): void =>
    expect(judge([body])).toMatchObject({ verdict: 'accepted', size: content.length })
  expect(cpuMsOf(read)).toBeLessThan(100)
})

/** Pieces that are likely to meet badly at their seams. */
const shards = fc.constantFrom(
  '\r\n',
  '\r',
  '\n',
  '\0',
  'X',
  '-',
  '--',
  '\r\n\r\n',
  BOUNDARY,
  D,
  `\r\n${D}`,
  `\r\n${D}--`,
  `\r\n${D.slice(0, -1)}`,
  HEAD,
  FILE,
  END,
  'Content-Disposition: form-data; name=x\r\n\r\n',
)
const anyBytes = fc
  .uint8Array({ maxLength: 300 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'))
const anyText = fc
  .array(fc.oneof(shards, anyBytes), { maxLength: 12 })
  .map((pieces) => pieces.join(''))
const harmless = anyText.map((text) => text.replaceAll(BOUNDARY, 'XBOUND'))

const legalForm = fc
  .record({
    preamble: harmless,
    before: fc.array(harmless, { maxLength: 4 }),
    content: harmless,
    after: fc.array(harmless, { maxLength: 4 }),
    epilogue: harmless.map((text) => `\r\n${text}`),
  })
  .map(({ preamble, before, content, after, epilogue }) => {
    const field = (text: string) => ({ name: 'x', content: Buffer.from(text, 'latin1') })
    const file = filePart(Buffer.from(content, 'latin1'))
    const parts = [...before.map(field), file, ...after.map(field)]
    const fields = [...before, ...after].map((text) => {
      const bytes = Buffer.from(text, 'latin1')
      return { name: 'x', value: bytes.toString(), isExact: isUtf8(bytes) }
    })
    return { content, fields, body: multipartBody(parts, { preamble, epilogue }) }
  })

const hostileBody = fc.oneof(
  anyText.map((text) => Buffer.from(text, 'latin1')),
  anyText.map((text) => Buffer.from(`${FILE}${text}${END}`, 'latin1')),
  fc.tuple(legalForm, fc.nat(), fc.nat({ max: 60 }), anyText).map(([{ body }, at, cut, text]) => {
    const from = at % body.length
    return Buffer.concat([
      body.subarray(0, from),
      Buffer.from(text, 'latin1'),
      body.subarray(from + cut),
    ])
  }),
)

function cutAt(body: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (body.length + 1)))].sort((a, b) => a - b)
  return [...places, body.length].map((place, i) => body.subarray(places[i - 1] ?? 0, place))
}

test('every legal form is accepted, and the content and the fields found', () => {
  fc.assert(
    fc.property(legalForm, ({ body, content, fields }) => {
      const { verdict, offset = -1, size = -1, content: found, ...read } = judge([body])
      expect(verdict).toBe('accepted')
      expect(body.toString('latin1', offset, offset + size)).toBe(content)
      expect(found).toBe(content)
      expect(read.fields).toEqual(fields)
    }),
    { numRuns: 1000 },
  )
})

test('what is found does not depend on how the bytes are cut', () => {
  const body = fc.oneof(
    hostileBody,
    legalForm.map(({ body }) => body),
  )
  fc.assert(
    fc.property(body, fc.array(fc.nat(), { maxLength: 20 }), (body, cuts) => {
      const whole = judge([body])
      expect(judge(cutAt(body, cuts))).toEqual(whole)
      expect(judge(byteByByte(body))).toEqual(whole)
    }),
    { numRuns: 2000 },
  )
})

describe('compared with @fastify/multipart', async () => {
  const app = fastify({ bodyLimit: 2 ** 30 })
  await app.register(fastifyMultipart, {
    isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    limits: { fileSize: Infinity },
  })
  app.post('/', async (request) => {
    const contents: string[] = []
    const fields: Pick<FormField, 'name' | 'value'>[] = []
    for await (const part of request.parts()) {
      if (part.type === 'file') contents.push((await part.toBuffer()).toString('latin1'))
      else fields.push({ name: part.fieldname, value: String(part.value) })
    }
    return { contents, fields }
  })
  afterAll(() => app.close())

  test('whatever is accepted, that delivers as the same fields and one file', async () => {
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    let accepted = 0
    const body = fc.oneof(
      hostileBody,
      legalForm.map(({ body }) => body),
    )
    await fc.assert(
      fc.asyncProperty(body, async (body) => {
        const { verdict, content, fields } = judge([body])
        if (verdict !== 'accepted') return
        accepted += 1
        const reply = await app.inject({ method: 'POST', url: '/', headers, payload: body })
        // Ours leaves names as they are, byte for byte.
        const decoded = fields.map(({ name, value }) => {
          return { name: Buffer.from(name, 'latin1').toString(), value }
        })
        expect(reply.json()).toEqual({ contents: [content], fields: decoded })
      }),
      { numRuns: 1500 },
    )
    expect(accepted).toBeGreaterThan(300)
  })
})
