import { AppError, invalidParameter } from '../errors.ts'

declare const brand: unique symbol
declare const prefixBrand: unique symbol

/** A path, unique within a user's repository, compared byte by byte. */
export type FileName = string & { readonly [brand]: 'FileName' }

export const MAX_FILE_NAME_BYTES = 1024

/** Of what is between two slashes. */
export const MAX_SEGMENT_BYTES = 255

/** For use in the brackets of a regular expression. */
const FORBIDDEN_CHARACTERS = '\\\\\\u0000-\\u001f\\u007f'

const SEGMENT_CHARACTER = `[^/${FORBIDDEN_CHARACTERS}]`
const NO_DOT = `[^./${FORBIDDEN_CHARACTERS}]`
const SEGMENT = `${SEGMENT_CHARACTER}+`
/** A segment that is neither `.` nor `..`, without a lookahead, which RE2 lacks and `check-regexps.mjs` cannot decide. */
const NO_DOTS = `(?:${NO_DOT}${SEGMENT_CHARACTER}*|\\.(?:${NO_DOT}${SEGMENT_CHARACTER}*|\\.${SEGMENT_CHARACTER}+))`

/** JSON Schema patterns; they do not limit the lengths. */
export const FILE_NAME_PATTERN = `^${NO_DOTS}(?:/${NO_DOTS})*/?$`
export const FILE_NAME_PREFIX_PATTERN = `^(?:${NO_DOTS}/)*(?:${SEGMENT})?$`
export const FILE_NAME_PART_PATTERN = `^/?(?:${SEGMENT}/)*(?:${SEGMENT})?$`
/** One character of a file name, in a Unicode regular expression. */
export const CHARACTER_PATTERN = `^[^${FORBIDDEN_CHARACTERS}]$`

/**
 * Returns `text` unchanged, or throws `invalid_file_name` unless it is 1 to 1,024 bytes of UTF-8 without `\`, C0 controls
 * or DEL, in segments of 1 to 255 bytes joined by `/`, none of them `.` or `..`. A slash may end it: see `isMarker`. Does
 * not fold case or normalize Unicode, because that could overwrite a file that its owner considers another (docs/api.md).
 */
export function parseFileName(text: string): FileName {
  const fault = text === '' ? 'is empty' : faultOf(text)
  if (fault !== undefined) throw new AppError('invalid_file_name', `The file name ${fault}.`)
  return text as FileName
}

export function isFileName(text: string): text is FileName {
  return text !== '' && faultOf(text) === undefined
}

export type FileNamePrefix = string & { readonly [prefixBrand]: 'FileNamePrefix' }

/** Throws `invalid_parameter` when no file name can begin with `text`, which may be empty. */
export function parseFileNamePrefix(text: string, parameter = 'prefix'): FileNamePrefix {
  return parsePart(text, parameter, { isEnd: false }) as FileNamePrefix
}

/** Throws `invalid_parameter` when no file name can contain `text`, which may be empty. */
export function parseNamePart(text: string, parameter: 'contains' | 'delimiter'): string {
  return parsePart(text, parameter, { isStart: false, isEnd: false })
}

function parsePart(text: string, parameter: string, part: NamePart): string {
  const fault = faultOf(text, part)
  if (fault === undefined) return text
  throw invalidParameter(parameter, `The value of ${parameter} ${fault}.`)
}

/** Begins every name. */
export const EVERY_NAME = '' as FileNamePrefix

/** A file without content, which keeps a folder that may have no other file. */
export function isMarker(name: FileName): boolean {
  return name.endsWith('/')
}

/** Throws `invalid_file_name` if a marker would have a content. */
export function assertMayHold(name: FileName, bytes: number): void {
  const fault = contentFault(name, bytes)
  if (fault !== undefined) throw fault
}

/** What `assertMayHold` would throw. */
export function contentFault(name: FileName, bytes: number): AppError | undefined {
  if (bytes === 0 || !isMarker(name)) return undefined
  return new AppError(
    'invalid_file_name',
    'The file name ends in a slash, so it is that of a folder, which has no content.',
  )
}

/** The folder that a name or prefix is in, with its slash; empty at the top. Of `a/b` and `a/b/` it is `a/`. */
export function parentOf(name: string): FileNamePrefix {
  return name.slice(0, name.lastIndexOf('/', name.length - 2) + 1) as FileNamePrefix
}

/** The name relative to a folder that it is below. */
export function nameBelow(folder: FileNamePrefix, name: FileName): FileName {
  return name.slice(folder.length) as FileName
}

/** The last segment of a name or prefix, without a slash that ends it. */
export function baseNameOf(name: string): string {
  return name.slice(parentOf(name).length, name.endsWith('/') ? -1 : undefined)
}

const FORBIDDEN = new RegExp(`[${FORBIDDEN_CHARACTERS}]`)

/** Whether a text begins a name, and whether it ends one. By default both. */
interface NamePart {
  readonly isStart?: boolean
  readonly isEnd?: boolean
}

/** Why no name can have this text as such a part. */
function faultOf(text: string, part: NamePart = {}): string | undefined {
  const [forbidden] = FORBIDDEN.exec(text) ?? []
  if (forbidden !== undefined) return `contains ${describe(forbidden)}`
  if (!text.isWellFormed()) return 'is not valid UTF-8'
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_FILE_NAME_BYTES) {
    return `is too long: it has ${bytes} bytes of UTF-8, and at most ${MAX_FILE_NAME_BYTES} are allowed`
  }
  return faultOfSegments(text.split('/'), part)
}

function faultOfSegments(
  segments: readonly string[],
  { isStart = true, isEnd = true }: NamePart,
): string | undefined {
  const last = segments.length - 1
  for (const [index, segment] of segments.entries()) {
    if (segment === '') {
      if (index === last || (index === 0 && !isStart)) continue
      return index === 0 ? 'begins with a slash' : 'has two slashes in a row'
    }
    const isWhole = (isStart || index > 0) && (isEnd || index < last)
    if (isWhole && (segment === '.' || segment === '..')) return `has the segment "${segment}"`
    const bytes = Buffer.byteLength(segment)
    if (bytes > MAX_SEGMENT_BYTES) {
      return `has a segment of ${bytes} bytes of UTF-8, and at most ${MAX_SEGMENT_BYTES} are allowed in each`
    }
  }
  return undefined
}

function describe(forbidden: string): string {
  if (forbidden === '\\') return 'a backslash'
  const code = forbidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  return `a control character (U+${code})`
}
