import type { ErrorCode } from '../../../src/core/error-codes.ts'
import {
  fileBody,
  filePart,
  type FormPart,
  multipartBody,
} from '../../support/http/multipart-body.ts'
import type { Upload } from '../fixture.ts'

const D = '--XBOUNDARY'
const HEAD = 'Content-Disposition: form-data; name="file"; filename="a.bin"'
const FILE = `${D}\r\n${HEAD}\r\n\r\n`
const END = `\r\n${D}--\r\n`

/** Content types under which even a good form is refused; `undefined` is none at all. */
export function refusedTypes(): [row: string, type: string | undefined][] {
  const boundary = (length: number) => `multipart/form-data; boundary=${'b'.repeat(length)}`
  return [
    ['A01 without a boundary', 'multipart/form-data'],
    ['A02 with an empty boundary', 'multipart/form-data; boundary='],
    ['A02 with an empty boundary in quotes', 'multipart/form-data; boundary=""'],
    ['A02 with a forbidden character in the boundary', 'multipart/form-data; boundary="a{b"'],
    ['A02 with a boundary that ends in a space', 'multipart/form-data; boundary="a "'],
    ['A02 with a boundary in an open quote', 'multipart/form-data; boundary="a'],
    ['A03 with a boundary of 71 bytes', boundary(71)],
    ['A03 with a boundary of 252 bytes', boundary(252)],
    ['A03 with a boundary of 256 bytes', boundary(256)],
    ['A03 with a boundary of 300 bytes', boundary(300)],
    ['A03 with a boundary of 4000 bytes', boundary(4000)],
    ['A14 as JSON', 'application/json'],
    ['A14 as plain bytes', 'application/octet-stream'],
    ['A14 as text', 'text/plain'],
    ['A14 as a simple form', 'application/x-www-form-urlencoded'],
    ['A14 as multipart/mixed', 'multipart/mixed; boundary=XBOUNDARY'],
    ['A14 as a longer media type', 'multipart/form-data-x; boundary=XBOUNDARY'],
    ['A14 as nonsense', ';;;'],
    ['A14 without a content type', undefined],
  ]
}

/** Whole bodies that are refused with 400, and the code. */
export function refusedForms(): [row: string, code: ErrorCode, form: Buffer][] {
  const forms: [string, ErrorCode, string | Buffer][] = [
    ['A05 cut in the middle of the file', 'truncated_body', `${FILE}new`],
    ['A06 closed but for the final dashes', 'truncated_body', `${FILE}new\r\n${D}`],
    ['A06 closed but for one final dash', 'truncated_body', `${FILE}new\r\n${D}-`],
    ['A06 ended by the line of a further part', 'truncated_body', `${FILE}new\r\n${D}\r\n`],
    ['A08 with two files', 'multiple_file_parts', multipartBody([filePart('a'), filePart('b')])],
    ['A08 with a second file under another name', 'multiple_file_parts', withFile('x', true)],
    ['A09 without a file', 'missing_file_part', multipartBody(repeated(1))],
    ['A09 with a file of another name', 'missing_file_part', withFile('x', false)],
    ['A09 with a file of another case', 'missing_file_part', withFile('File', false)],
    ['A09 with a part without a name', 'format_error', part('form-data; filename="a"')],
    ['A10 of text without a filename', 'missing_file_part', part('form-data; name="file"')],
    [
      'A11 of bytes without a filename',
      'missing_file_part',
      part('form-data; name="file"\r\nContent-Type: application/octet-stream'),
    ],
    ['A13 without a body', 'truncated_body', ''],
    ['A13 of the closing delimiter alone', 'missing_file_part', `${D}--\r\n`],
    ['A15 of 1001 tiny parts', 'format_error', multipartBody(repeated(1001))],
    ['A15 cut in its 11th part', 'truncated_body', many(10).subarray(0, -5)],
    ['A15 of 101 fields beside the file', 'format_error', many(101)],
    ['A17 with 100 KiB of headers', 'format_error', headed(`X-Long: ${'x'.repeat(102_400)}`)],
    ['A17 with 2000 headers', 'format_error', headed(Array(2000).fill('X-Many: x').join('\r\n'))],
    ['A18 with a field __proto__', 'format_error', fielded('__proto__')],
    ['A18 with a field constructor', 'format_error', fielded('constructor')],
    ['A19 with headers that do not end', 'format_error', `${D}\r\n${HEAD}\r\n${D}--\r\n`],
    [
      'A19 with headers that do not end before a part',
      'format_error',
      `${D}\r\n${HEAD}\r\n${FILE}`,
    ],
    ['A19 cut in a head', 'truncated_body', `${D}\r\n${HEAD}\r`],
    ['A20 cut in a field beyond the limit', 'format_error', longField(70_000)],
    ['A20 cut in a skipped field', 'truncated_body', longField(5000)],
    ['A21 of lines that end in LF alone', 'format_error', `${FILE}new${END}`.replaceAll('\r', '')],
    ['A21 without a line break before its end', 'truncated_body', `${FILE}new${D}--\r\n`],
    ['A22 with a long preamble', 'format_error', fileBody('new', { preamble: 'p'.repeat(66_000) })],
    ['A22 with a long epilogue', 'format_error', fileBody('new', { epilogue: epilogue(66_000) })],
    ['A24 with a line break in its filename', 'format_error', named('a\r\nb')],
    ['A24 with a CR in its filename', 'format_error', named('a\rb')],
    ['A26 of content with a boundary line', 'format_error', `${FILE}a\r\n${D}\r\nb${END}`],
    ['A26 of content with a closing line', 'format_error', `${FILE}a\r\n${D}--\r\nb${END}`],
    ['A26 of content with more on a boundary line', 'format_error', `${FILE}a\r\n${D}x\r\nb${END}`],
    ['with a field of broken JSON', 'format_error', multipartBody([BROKEN_JSON, filePart('new')])],
    ['A26 of content with a whole form', 'multiple_file_parts', fileBody(fileBodyWithLine())],
  ]
  return forms.map(([row, code, form]) => [row, code, Buffer.from(form)])
}

/** Forms that look odd and are well: what is stored, and what is sent. */
export function acceptedForms(): [row: string, content: Buffer, sent: Upload][] {
  const type = (value: string) => ({ headers: { 'Content-Type': value } })
  const text = Buffer.from('new')
  const inLine = Buffer.from(`a${D}--\r\nb ${D}\r\n`)
  const nested = multipartBody([{ name: 'a', content: 'b' }], { boundary: 'inner' })
  const whole = (form: Uint8Array | string): Upload => ({ form: Buffer.from(form) })
  const first = type('multipart/form-data; boundary=XBOUNDARY; boundary=other')
  return [
    ['A04 with two boundaries', text, { content: text, ...first }],
    [
      'A04 with a quoted boundary',
      text,
      { content: text, ...type('multipart/form-data; boundary="XBOUNDARY"') },
    ],
    [
      'A04 with every character that a boundary may have',
      text,
      { form: fileBody(text, { boundary: LONGEST }), ...quoted(LONGEST) },
    ],
    [
      'A04 in capital letters',
      text,
      { content: text, ...type('MULTIPART/FORM-DATA; BOUNDARY=XBOUNDARY') },
    ],
    ['A11 with an empty filename', text, whole(named(''))],
    ['A12 of an empty file', Buffer.alloc(0), { content: '' }],
    ['A12 of an empty file in chunks', Buffer.alloc(0), { content: '', chunked: true }],
    ['A18 with a header __proto__', text, whole(headed('__proto__: x'))],
    ['A21 without the last line break', text, whole(fileBody(text, { epilogue: '' }))],
    ['A22 with a preamble', text, whole(fileBody(text, { preamble: 'hello' }))],
    ['A22 with an epilogue of 8 KB', text, whole(fileBody(text, { epilogue: epilogue(8000) }))],
    ['A23 of a form inside the file', nested, { content: nested }],
    ['A24 named ../../x', text, whole(named('../../x'))],
    ['A24 named with quotes', text, whole(named('a\\"b\\"; name=\\"x'))],
    ['A24 named with encoded line breaks', text, whole(named('a%0D%0Ab'))],
    ['A24 named from right to left', text, whole(named('\u00e2\u0080\u00aegnp.exe'))],
    ['A26 of content with a boundary inside a line', inLine, { content: inLine }],
    ['with small fields around the file', text, whole(many(0))],
    ['with eight fields around the file', text, whole(many(8))],
    ['with a field of 20 KB', text, whole(multipartBody([LONG_FIELD, filePart(text)]))],
    ['with the encoding "identity"', text, { content: text, headers: IDENTITY }],
  ]
}

const BROKEN_JSON = {
  head: 'Content-Disposition: form-data; name="x"\r\nContent-Type: application/json',
  content: '{',
}
const LONG_FIELD = { name: 'x', content: 'y'.repeat(20_000) }

const LONGEST = "'()+_,-./:=? 09AZaz"
const quoted = (boundary: string) => ({
  headers: { 'Content-Type': `multipart/form-data; boundary="${boundary}"` },
})

const IDENTITY = { 'Content-Encoding': 'identity' }

function part(disposition: string): string {
  return `${D}\r\nContent-Disposition: ${disposition}\r\n\r\nnew${END}`
}

function named(filename: string): Buffer {
  return multipartBody([{ name: 'file', filename, content: 'new' }])
}

function headed(header: string): Buffer {
  return multipartBody([{ head: `${HEAD}\r\n${header}`, content: 'new' }])
}

function fielded(name: string): Buffer {
  return multipartBody([{ name, content: 'x' }, filePart('new')])
}

function withFile(name: string, second: boolean): Buffer {
  const file = { name, filename: 'a', content: 'new' }
  return multipartBody(second ? [filePart('first'), file] : [file])
}

/** As many small fields, some before the file and some after it; two when 0. */
function many(fields: number): Buffer {
  const before = repeated(Math.max(1, fields >> 1))
  const after = repeated(Math.max(1, fields - (fields >> 1)))
  return multipartBody([...before, filePart('new'), ...after])
}

function repeated(times: number): FormPart[] {
  return Array.from({ length: times }, () => ({ name: 'x', content: 'y' }))
}

/** A form that ends in a field before its file. */
function longField(length: number): Buffer {
  const form = multipartBody([{ name: 'x', content: 'y'.repeat(length) }, filePart('new')])
  return form.subarray(0, length)
}

function epilogue(length: number): string {
  return `\r\n${'e'.repeat(length)}`
}

function fileBodyWithLine(): Buffer {
  return Buffer.concat([Buffer.from('a\r\n'), fileBody('b')])
}
