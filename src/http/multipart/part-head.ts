import { type AppError, formatError } from '../../core/errors.ts'
import { parseParameters, type ParameterizedValue } from '../headers/parameterized-value.ts'

export interface PartHead {
  readonly name: string
  /** Whether there is a `filename` parameter, even an empty one. The name itself is ignored. */
  readonly isFile: boolean
  readonly isJson: boolean
  readonly contentType: string | undefined
}

const MAX_PART_HEADERS = 32

/**
 * Takes a header block as latin1, without its empty line. Throws `format_error` unless it has 1 to 32 unfolded headers,
 * `Content-Disposition: form-data` with one `name` and at most one `filename` and `filename*` (RFC 7578 section 4.2),
 * and no encoding but 7bit, 8bit or binary (section 4.7).
 */
export function parsePartHead(text: string): PartHead {
  const headers = parseHeaders(text)
  const encoding = headers.get('content-transfer-encoding') ?? 'binary'
  if (!IDENTITY_ENCODING.test(encoding))
    throw malformed('has an unsupported Content-Transfer-Encoding')
  const disposition = parseParameters(headers.get('content-disposition') ?? '')
  if (disposition?.value !== 'form-data')
    throw malformed('has no header Content-Disposition: form-data')
  const contentType = headers.get('content-type')
  const isJson = /^application\/json/i.test(contentType ?? '')
  return { ...describe(disposition), isJson, contentType }
}

const IDENTITY_ENCODING = /^(?:7bit|8bit|binary)[ \t]*$/i

/** Keyed by lower-case name; the first of a repeated header counts. */
function parseHeaders(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\r\n', MAX_PART_HEADERS + 1)
  if (lines.length > MAX_PART_HEADERS) throw malformed(`has more than ${MAX_PART_HEADERS} headers`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, given, value] = HEADER.exec(line) ?? []
    if (given === undefined || value === undefined) throw malformed('has an invalid header line')
    const name = given.toLowerCase()
    if (!headers.has(name)) headers.set(name, value)
    else if (ONCE.has(name)) throw malformed(`has more than one ${name} header`)
  }
  return headers
}

/** Only one of its parts can match a given space, so that no head takes quadratic time. */
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*((?:[^\r\n\0 \t][^\r\n\0]*)?)$/

const ONCE = new Set(['content-disposition', 'content-transfer-encoding'])

function describe({ parameters }: ParameterizedValue): {
  readonly name: string
  readonly isFile: boolean
} {
  const seen = new Map<string, string>()
  for (const [name, value] of parameters) {
    if (seen.has(name)) throw malformed('repeats a Content-Disposition parameter')
    if (name.includes('*') && !isExtendedFileName(name, value)) {
      throw malformed('has an unsupported extended parameter')
    }
    seen.set(name, value)
  }
  const name = seen.get('name')
  if (name === undefined) throw malformed('has no name parameter')
  return { name, isFile: seen.has('filename') || seen.has('filename*') }
}

/** Some clients add `filename*` for older servers. Line breaks in it make some parsers skip the part. */
function isExtendedFileName(name: string, value: string): boolean {
  return name === 'filename*' && EXTENDED_VALUE.test(value) && !/%0[ad]/i.test(value)
}

/** RFC 8187 section 3.2. */
const EXTENDED_VALUE = /^(?:utf-8|iso-8859-1)'[0-9a-z-]*'[^'\\]*$/i

function malformed(fault: string): AppError {
  return formatError(`A part of the form ${fault}.`)
}
