import { invalidParameter } from '../errors.ts'

declare const brand: unique symbol

/** A media type with its parameters as the client wrote it (RFC 9110 section 8.3.1), in printable ASCII. */
export type MediaType = string & { readonly [brand]: 'MediaType' }

export const DEFAULT_MEDIA_TYPE = 'application/octet-stream'

export const MAX_MEDIA_TYPE_BYTES = 255

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = String.raw`"(?:[ !#-\[\]-~]|\\[ -~])*"`

/** A JSON Schema pattern; it does not limit the length. */
export const MEDIA_TYPE_PATTERN = `^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|${QUOTED}))*$`

const MEDIA_TYPE = new RegExp(MEDIA_TYPE_PATTERN)

/**
 * As an upload states it: `null` if it states none, or the default, which clients send for any file. Malformed and too
 * long ones count as none.
 */
export function mediaTypeOf(text: string | undefined): MediaType | null {
  const type = text?.trim() ?? ''
  if (type.length > MAX_MEDIA_TYPE_BYTES || !MEDIA_TYPE.test(type)) return null
  return essenceOf(type) === DEFAULT_MEDIA_TYPE ? null : (type as MediaType)
}

/** Of a request whose body is the file: many programs send the type of a form, with whatever they send. */
export function bodyMediaTypeOf(text: string | undefined): MediaType | null {
  const type = mediaTypeOf(text)
  return type !== null && essenceOf(type) === FORM_MEDIA_TYPE ? null : type
}

const FORM_MEDIA_TYPE = 'application/x-www-form-urlencoded'

/** Without parameters, in lower case. */
function essenceOf(type: string): string {
  const [whole = ''] = type.split(';', 1)
  return whole.trim().toLowerCase()
}

/** As a user sets it, so the default stays. Throws `invalid_parameter` unless the text is a media type. */
export function parseMediaType(text: string): MediaType {
  if (text.length <= MAX_MEDIA_TYPE_BYTES && MEDIA_TYPE.test(text)) return text as MediaType
  const detail = `media_type must be a media type such as image/jpeg, at most ${MAX_MEDIA_TYPE_BYTES} bytes.`
  throw invalidParameter('media_type', detail)
}

const PLAIN_TEXT = 'text/plain'

/** Contents that browsers show without running anything in them. */
export const INLINE_TYPES = [
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/avif',
  'image/gif',
  'video/mp4',
  'video/webm',
  'video/mpeg',
  'video/ogg',
  'audio/mp4',
  'audio/webm',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'audio/wave',
  'audio/x-wav',
  'audio/vnd.wave',
  'application/ogg',
  PLAIN_TEXT,
] as const

const UTF_8 = /^[ \t]*;[ \t]*charset=(?:utf-8|"utf-8")$/i

/**
 * The `Content-Type` with which browsers may show a content instead of saving it: its media type without parameters.
 * `undefined` for all but those of `INLINE_TYPES`, and for plain text that is not in UTF-8.
 */
export function inlineType(mediaType: MediaType | null): string | undefined {
  const [whole = ''] = (mediaType ?? '').split(';', 1)
  const type = essenceOf(whole)
  const known = INLINE_TYPES.find((each) => each === type)
  if (known !== PLAIN_TEXT) return known
  const parameters = (mediaType ?? '').slice(whole.length)
  return parameters === '' || UTF_8.test(parameters) ? `${PLAIN_TEXT}; charset=utf-8` : undefined
}
