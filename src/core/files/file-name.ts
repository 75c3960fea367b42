import { AppError, invalidParameter } from '../errors.ts'

declare const brand: unique symbol
declare const prefixBrand: unique symbol

/** Unique within a user's repository, compared byte by byte. */
export type FileName = string & { readonly [brand]: 'FileName' }

export const MAX_FILE_NAME_BYTES = 255

/** For use in the brackets of a regular expression. */
const FORBIDDEN_CHARACTERS = '/\\\\\\u0000-\\u001f\\u007f'

/** JSON Schema patterns; they do not limit the length. */
export const FILE_NAME_PATTERN = `^(?!\\.{1,2}$)[^${FORBIDDEN_CHARACTERS}]+$`
export const FILE_NAME_PREFIX_PATTERN = `^[^${FORBIDDEN_CHARACTERS}]*$`
/** One character of a file name, in a Unicode regular expression. */
export const CHARACTER_PATTERN = `^[^${FORBIDDEN_CHARACTERS}]$`

/**
 * Returns `text` unchanged, or throws `invalid_file_name` unless it is 1 to 255 bytes of UTF-8 without `/`, `\`, C0
 * controls or DEL, and neither `.` nor `..`. Does not fold case or normalize Unicode, because that could overwrite a
 * file that its owner considers another (docs/api.md).
 */
export function parseFileName(text: string): FileName {
  const fault = faultOf(text)
  if (fault !== undefined) throw new AppError('invalid_file_name', `The file name ${fault}.`)
  return text as FileName
}

export function isFileName(text: string): text is FileName {
  return faultOf(text) === undefined
}

export type FileNamePrefix = string & { readonly [prefixBrand]: 'FileNamePrefix' }

/** Throws `invalid_parameter` when no file name can begin with `text`, which may be empty. */
export function parseFileNamePrefix(text: string): FileNamePrefix {
  return parseNamePart(text, 'prefix') as FileNamePrefix
}

/** As `parseFileNamePrefix`, for a text anywhere in a name. */
export function parseNamePart(
  text: string,
  parameter: 'prefix' | 'contains' | 'delimiter',
): string {
  const fault = text === '' || text === '.' || text === '..' ? undefined : faultOf(text)
  if (fault === undefined) return text
  throw invalidParameter(parameter, `The value of ${parameter} ${fault}.`)
}

/** Begins every name. */
export const EVERY_NAME = '' as FileNamePrefix

const FORBIDDEN = new RegExp(`[${FORBIDDEN_CHARACTERS}]`)

function faultOf(text: string): string | undefined {
  if (text === '') return 'is empty'
  if (text === '.' || text === '..') return 'must not be "." or ".."'
  const [forbidden] = FORBIDDEN.exec(text) ?? []
  if (forbidden !== undefined) return `contains ${describe(forbidden)}`
  if (!text.isWellFormed()) return 'is not valid UTF-8'
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_FILE_NAME_BYTES) return undefined
  return `is too long: it has ${bytes} bytes of UTF-8, and at most ${MAX_FILE_NAME_BYTES} are allowed`
}

function describe(forbidden: string): string {
  if (forbidden === '/') return 'a slash'
  if (forbidden === '\\') return 'a backslash'
  const code = forbidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  return `a control character (U+${code})`
}
