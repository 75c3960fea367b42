import type { IncomingHttpHeaders } from 'node:http'
import { MAX_BYTES } from '../../../core/byte-size.ts'
import { AppError, invalidParameter } from '../../../core/errors.ts'
import { type FileName, parseFileName } from '../../../core/files/file-name.ts'

/** tus 1.0.0, section "Core Protocol" and the extensions named below (https://tus.io/protocols/resumable-upload). */
export const TUS_VERSION = '1.0.0'

export const TUS_EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'expiration',
  'termination',
  'checksum',
].join(',')

export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256'] as const

export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number]

export const APPEND_MEDIA_TYPE = 'application/offset+octet-stream'

/** Throws `tus_version_unsupported` unless the request has this version. */
export function assertTusVersion({ 'tus-resumable': version }: IncomingHttpHeaders): void {
  if (version === TUS_VERSION) return
  const detail = `The header Tus-Resumable must be ${TUS_VERSION}.`
  throw new AppError('tus_version_unsupported', detail)
}

/**
 * `undefined` if the length is deferred. Throws `invalid_parameter` unless the request has exactly one of two headers.
 */
export function parseNewLength(headers: IncomingHttpHeaders): number | undefined {
  const length = parseLength(headers)
  const deferred = headers['upload-defer-length']
  if (deferred !== undefined && deferred !== '1') throw invalid('Upload-Defer-Length', 'must be 1')
  if ((length === undefined) === (deferred === undefined)) {
    throw invalid('Upload-Length', 'or Upload-Defer-Length must be present, but not both')
  }
  return length
}

/** `undefined` without the header. Throws `invalid_parameter`. */
export function parseLength(headers: IncomingHttpHeaders): number | undefined {
  return headers['upload-length'] === undefined ? undefined : parseBytes(headers, 'Upload-Length')
}

/** Throws `invalid_parameter` if missing or malformed. */
export function parseOffset(headers: IncomingHttpHeaders): number {
  return parseBytes(headers, 'Upload-Offset')
}

function parseBytes(headers: IncomingHttpHeaders, name: string): number {
  const text = headers[name.toLowerCase()]
  const bytes = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (bytes <= MAX_BYTES) return bytes
  throw invalid(name, 'must be a whole number of bytes, at most 2^53 - 1')
}

export interface UploadChecksum {
  readonly algorithm: ChecksumAlgorithm
  /** Base64 with padding. */
  readonly digest: string
}

const DIGEST_BYTES = { sha1: 20, sha256: 32 } as const

/** `undefined` without the header. Throws `invalid_parameter`, also for an unsupported algorithm. */
export function parseChecksum(headers: IncomingHttpHeaders): UploadChecksum | undefined {
  const text = headers['upload-checksum']
  if (text === undefined) return undefined
  const [algorithm = '', digest = '', ...more] = text.toString().split(' ')
  const known = CHECKSUM_ALGORITHMS.find((name) => name === algorithm.toLowerCase())
  const bytes = decodeBase64(digest)
  if (known === undefined || more.length > 0 || bytes?.length !== DIGEST_BYTES[known]) {
    throw invalid(
      'Upload-Checksum',
      'must be "sha1" or "sha256", a space, and the digest in base64',
    )
  }
  return { algorithm: known, digest }
}

export interface UploadMetadata {
  readonly name: FileName
  /** Unparsed: only the owner's uploads heed it. */
  readonly visibility: string | undefined
  /** The header as received. */
  readonly header: string
}

const MAX_METADATA_BYTES = 4096

/** Each takes the event loop 0.5 us in each answer that shows it, and a page shows those of 100 uploads. */
const MAX_METADATA_KEYS = 64

/**
 * The file's name is the key `filename`, else `name`. Other keys are kept. Throws `invalid_parameter` if the header is
 * missing, malformed, longer than 4 KiB or has more than 64 keys, and as `parseFileName` does.
 */
export function parseMetadata(headers: IncomingHttpHeaders): UploadMetadata {
  const header = headers['upload-metadata']?.toString()
  if (header === undefined) throw invalid('Upload-Metadata', 'must have a filename')
  if (Buffer.byteLength(header) > MAX_METADATA_BYTES) {
    throw invalid('Upload-Metadata', `must have at most ${MAX_METADATA_BYTES} bytes`)
  }
  if (header.split(',').length > MAX_METADATA_KEYS) {
    throw invalid('Upload-Metadata', `must have at most ${MAX_METADATA_KEYS} keys`)
  }
  const values = metadataValues(header)
  const name = values.get('filename') ?? values.get('name')
  if (name === undefined) throw invalid('Upload-Metadata', 'must have a filename')
  const visibility = values.get('visibility')
  return { name: parseFileName(name), visibility, header }
}

/** Decodes the values of the first keys: an upload that an earlier version has created can have more. */
export function metadataValues(header: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const pair of header.split(',', MAX_METADATA_KEYS)) {
    const [key = '', value = '', ...more] = pair.split(' ').filter((word) => word !== '')
    const bytes = decodeBase64(value)
    const isPair = KEY.test(key) && bytes !== undefined && more.length === 0
    if (!isPair || values.has(key)) throw malformedMetadata()
    values.set(key, decodeText(key, bytes))
  }
  return values
}

/** Only the values that this service uses must be valid UTF-8. */
function decodeText(key: string, bytes: Buffer): string {
  if (!READ_KEYS.has(key)) return bytes.toString()
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw malformedMetadata()
  }
}

const READ_KEYS: ReadonlySet<string> = new Set(['filename', 'name', 'visibility'])

/** Printable ASCII without space and comma. */
const KEY = /^[!-+\--~]+$/

function malformedMetadata(): AppError {
  return invalid(
    'Upload-Metadata',
    'must be pairs of a key and a base64 value, separated by commas',
  )
}

/** `undefined` unless the text is base64 with padding (RFC 4648 section 4). */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

export function invalid(header: string, rule: string): AppError {
  return invalidParameter(header, `The header ${header} ${rule}.`)
}
