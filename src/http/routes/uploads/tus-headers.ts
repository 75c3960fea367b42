import type { IncomingHttpHeaders } from 'node:http'
import { MAX_BYTES } from '../../../core/byte-size.ts'
import { AppError, invalidParameter } from '../../../core/errors.ts'
import { type FileName, parseFileName } from '../../../core/files/file-name.ts'
import { decodeBase64, metadataValues, TEXT_KEYS } from '../../../core/resumable/upload-metadata.ts'

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
  const [algorithm = '', digest = '', another] = text.toString().split(' ')
  const known = CHECKSUM_ALGORITHMS.find((name) => name === algorithm.toLowerCase())
  const bytes = decodeBase64(digest)
  if (known === undefined || another !== undefined || bytes?.length !== DIGEST_BYTES[known]) {
    throw invalid(
      'Upload-Checksum',
      'must be "sha1" or "sha256", a space, and the digest in base64',
    )
  }
  return { algorithm: known, digest }
}

export interface UploadMetadata {
  readonly name: FileName
  /** Unparsed, as `metadata`: only the owner's uploads heed them. */
  readonly visibility: string | undefined
  readonly metadata: string | undefined
  /** The header as received. */
  readonly header: string
}

/** A name, a media type and metadata fit, each as long as it may be. */
export const MAX_UPLOAD_METADATA_BYTES = 5 * 1024

/** Each takes the event loop 0.5 us in each answer that shows it, and a page shows those of 100 uploads. */
const MAX_METADATA_KEYS = 64

/**
 * The file's name is the key `filename`, else `name`. Other keys are kept. Throws `invalid_parameter` if the header is
 * missing, malformed, longer than 5 KiB or has more than 64 keys, and as `parseFileName` does.
 */
export function parseMetadata(headers: IncomingHttpHeaders): UploadMetadata {
  const header = headers['upload-metadata']?.toString()
  if (header === undefined) throw invalid('Upload-Metadata', 'must have a filename')
  if (Buffer.byteLength(header) > MAX_UPLOAD_METADATA_BYTES) {
    throw invalid('Upload-Metadata', `must have at most ${MAX_UPLOAD_METADATA_BYTES} bytes`)
  }
  if (header.split(',').length > MAX_METADATA_KEYS) {
    throw invalid('Upload-Metadata', `must have at most ${MAX_METADATA_KEYS} keys`)
  }
  const values = metadataValues(header, TEXT_KEYS)
  const name = values.get('filename') ?? values.get('name')
  if (name === undefined) throw invalid('Upload-Metadata', 'must have a filename')
  const [visibility, metadata] = [values.get('visibility'), values.get('metadata')]
  return { name: parseFileName(name), visibility, metadata, header }
}

export function invalid(header: string, rule: string): AppError {
  return invalidParameter(header, `The header ${header} ${rule}.`)
}
