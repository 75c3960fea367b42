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
/** Content types under which even a good form is refused; `undefined` is none at all. */
export function refusedTypes(): [row: string, type: string | undefined][] {
  const boundary = (length: number) => `multipart/form-data; boundary=${'b'.repeat(length)}`
  return [
    ['A01 without a boundary', 'multipart/form-data'],
    ['A02 with an empty boundary', 'multipart/form-data; boundary='],
    ['A02 with a forbidden character in the boundary', 'multipart/form-data; boundary="a{b"'],
    ['A02 with a boundary in an open quote', 'multipart/form-data; boundary="a'],
    ['A03 with a boundary of 71 bytes', boundary(71)],
    ['A03 with a boundary of 4000 bytes', boundary(4000)],
    ['A14 as JSON', 'application/json'],
    ['A14 as multipart/mixed', 'multipart/mixed; boundary=XBOUNDARY'],
    ['A14 as nonsense', ';;;'],
    ['A14 without a content type', undefined],
  ]
}

/** Whole bodies that are refused with 400, and the code. */
export function refusedForms(): [row: string, code: ErrorCode, form: Buffer][] {
  const forms: [string, ErrorCode, string | Buffer][] = [
    ['A05 cut in the middle of the file', 'truncated_body', `${FILE}new`],
    ['A08 with two files', 'multiple_file_parts', multipartBody([filePart('a'), filePart('b')])],
    ['A09 without a file', 'missing_file_part', multipartBody(repeated(1))],
    ['A13 without a body', 'truncated_body', ''],
    ['A15 of 1001 tiny parts', 'format_error', multipartBody(repeated(1001))],
    ['A18 with a field __proto__', 'format_error', fielded('__proto__')],
    ['A20 cut in a skipped field', 'truncated_body', longField(5000)],
    ['A24 with a line break in its filename', 'format_error', named('a\r\nb')],
    ['with a field of broken JSON', 'format_error', multipartBody([BROKEN_JSON, filePart('new')])],
  ]
  return forms.map(([row, code, form]) => [row, code, Buffer.from(form)])
}

/** Forms that look odd and are well: what is stored, and what is sent. */
export function acceptedForms(): [row: string, content: Buffer, sent: Upload][] {
  const type = (value: string) => ({ headers: { 'Content-Type': value } })
  const text = Buffer.from('new')
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
    ['A12 of an empty file', Buffer.alloc(0), { content: '' }],
    ['A24 named ../../x', text, whole(named('../../x'))],
    ['with small fields around the file', text, whole(many(0))],
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

function named(filename: string): Buffer {
  return multipartBody([{ name: 'file', filename, content: 'new' }])
}

function fielded(name: string): Buffer {
  return multipartBody([{ name, content: 'x' }, filePart('new')])
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
