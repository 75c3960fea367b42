export interface FormPart {
  readonly name?: string
  /** Makes the part a file. */
  readonly filename?: string
  /** The whole header block, without its last line break, in place of what `name` and `filename` make. */
  readonly head?: string
  readonly content: string | Uint8Array
}

export interface FormOptions {
  readonly boundary?: string
  readonly preamble?: string | Uint8Array
  /** What follows the closing delimiter; `\r\n` when left out. */
  readonly epilogue?: string | Uint8Array
}

export const BOUNDARY = 'XBOUNDARY'

/** Encodes a form as it is meant to be, but takes any bytes for its pieces. */
export function multipartBody(parts: readonly FormPart[], options: FormOptions = {}): Buffer {
  const { boundary = BOUNDARY, preamble = '', epilogue = '\r\n' } = options
  return Buffer.concat([
    bytes(preamble === '' ? '' : Buffer.concat([bytes(preamble), bytes('\r\n')])),
    ...parts.flatMap((part) => [
      bytes(`--${boundary}\r\n${part.head ?? headOf(part)}\r\n\r\n`),
      bytes(part.content),
      bytes('\r\n'),
    ]),
    bytes(`--${boundary}--`),
    bytes(epilogue),
  ])
}

/** A form with a file and nothing else. */
export function fileBody(content: string | Uint8Array, options: FormOptions = {}): Buffer {
  return multipartBody([filePart(content)], options)
}

export function filePart(content: string | Uint8Array): FormPart {
  return { name: 'file', filename: 'a.bin', content }
}

/** The same part a number of times. */
export function repeated(times: number, part: FormPart): FormPart[] {
  return Array.from({ length: times }, () => part)
}

/**
 * The head of an upload request, with the empty line; chunked when `length` is left out. A PUT has no type of its own.
 */
export function uploadHead(options: {
  method?: 'POST' | 'PUT'
  path: string
  length?: number
  boundary?: string
  headers?: Readonly<Record<string, string>>
}): string {
  const { method = 'POST', path, length, boundary = BOUNDARY, headers = {} } = options
  const framing =
    length === undefined ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': `${length}` }
  const form = { 'Content-Type': `multipart/form-data; boundary=${boundary}` }
  const type = method === 'POST' ? form : {}
  const lines = Object.entries({ Host: 'localhost', ...type, ...framing, ...headers })
  return [`${method} ${path} HTTP/1.1`, ...lines.map((pair) => pair.join(': ')), '', ''].join(
    '\r\n',
  )
}

/** Bytes as one chunk of a chunked body; none make the last chunk. */
export function httpChunk(content: string | Uint8Array): Buffer {
  const body = bytes(content)
  return Buffer.concat([bytes(`${body.length.toString(16)}\r\n`), body, bytes('\r\n')])
}

function headOf({ name, filename }: FormPart): string {
  const disposition = ['form-data']
  if (name !== undefined) disposition.push(`name="${name}"`)
  if (filename !== undefined) disposition.push(`filename="${filename}"`)
  const type = filename === undefined ? '' : '\r\nContent-Type: application/octet-stream'
  return `Content-Disposition: ${disposition.join('; ')}${type}`
}

function bytes(content: string | Uint8Array): Buffer {
  return typeof content === 'string' ? Buffer.from(content, 'latin1') : Buffer.from(content)
}
