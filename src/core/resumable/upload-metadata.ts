import { type AppError, invalidParameter, isAppError } from '../errors.ts'
import type { SentDescription } from '../files/file.ts'
import { mediaTypeOf } from '../files/media-type.ts'
import { parseMetadata } from '../files/metadata.ts'
import { objectMetadata } from '../files/object-metadata.ts'
import type { ObjectHead } from '../objects/object-store.ts'
import type { ResumableUpload } from './resumable-ledger.ts'

/** Decodes an `Upload-Metadata`. Only `textKeys` must be valid UTF-8. Throws `invalid_parameter` if it is malformed. */
export function metadataValues(
  header: string,
  textKeys: ReadonlySet<string> = NAME_KEYS,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const pair of header.split(',')) {
    const [key = '', value = '', another] = pair.split(' ').filter((word) => word !== '')
    const bytes = decodeBase64(value)
    const isPair = KEY.test(key) && bytes !== undefined && another === undefined
    if (!isPair || values.has(key)) throw malformedMetadata()
    values.set(key, textKeys.has(key) ? decodeText(bytes) : bytes.toString())
  }
  return values
}

const NAME_KEYS: ReadonlySet<string> = new Set(['filename', 'name', 'visibility'])

/** Of a new upload. */
export const TEXT_KEYS: ReadonlySet<string> = new Set([...NAME_KEYS, 'metadata'])

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw malformedMetadata()
  }
}

/** Printable ASCII without space and comma. */
const KEY = /^[!-+\--~]+$/

function malformedMetadata(): AppError {
  return invalidParameter(
    'Upload-Metadata',
    'The header Upload-Metadata must be pairs of a key and a base64 value, separated by commas.',
  )
}

/** `undefined` unless the text is base64 with padding (RFC 4648 section 4). */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** As `objectMetadata`, for the object of an upload. */
export function sentMetadata(upload: ResumableUpload): ObjectHead['metadata'] {
  const { mediaType, metadata } = sentDescription(upload)
  const { name, deviceId } = upload
  return objectMetadata({ name, mediaType, metadata, deviceId })
}

/**
 * What the `Upload-Metadata` of an upload says about its content: nothing once the upload is aborted. Visitors of a link
 * cannot set metadata.
 */
export function sentDescription({
  metadata: header,
  linkId,
}: Pick<ResumableUpload, 'metadata' | 'linkId'>): SentDescription {
  try {
    const values = metadataValues(header, TEXT_KEYS)
    const mediaType = mediaTypeOf(values.get('filetype'))
    const text = linkId === undefined ? values.get('metadata') : undefined
    return { mediaType, metadata: text === undefined ? undefined : parseMetadata(text) }
  } catch (error) {
    if (isAppError(error, 'invalid_parameter')) return {}
    throw error
  }
}
