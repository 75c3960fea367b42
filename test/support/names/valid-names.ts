import * as fc from 'fast-check'

const MAX_NAME_BYTES = 1024
const MAX_SEGMENT_BYTES = 255

/** Names at the edges of the grammar, and names that something on the way could take for another or for a route. */
export const VALID_NAMES: readonly string[] = [
  'a',
  'a/',
  'a/b',
  'a/b/',
  'a/b/c/d/e/f/g/h',
  // Of one character, as short as a name is.
  '%',
  '?',
  '#',
  ' ',
  '+',
  '&',
  ';',
  ':',
  '"',
  '~',
  '\u0085',
  '100%/50%25.txt',
  'a%2Fb/c%252Fd',
  '%2e%2e/%2E',
  'what?/a#b?c=d&e#f',
  'a+b/c d/ e ',
  ' / / ',
  '.../..a/a../.a/a.',
  // Paths of the service.
  'uploads/film.mov',
  'uploads/019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a',
  'archive/',
  'archive/2026/a.zip',
  'history/019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a/restore',
  'users/me/repo/a',
  'me/batch',
  '__proto__/constructor',
  'CON/aux.txt',
  // The two forms of one text.
  'caf\u00e9/r\u00e9sum\u00e9.pdf',
  'cafe\u0301/re\u0301sume\u0301.pdf',
  'folder \u203a file',
  '\u65e5\u672c\u8a9e/\u{1f468}\u200d\u{1f469}\u200d\u{1f467}/\u202egnp.exe',
  '\ufeffa/\uffff',
  `a:b/"c"/<d>/*|e`,
  "'; DROP TABLE files; --/$(touch x)/`id`",
  'x'.repeat(MAX_SEGMENT_BYTES),
  `${'x'.repeat(MAX_SEGMENT_BYTES)}/`,
  `${'\u20ac'.repeat(85)}/${'\u{1f600}'.repeat(63)}`,
  longest('y'),
  longest('%'),
  longest('\u00fc'),
  `${segmentOf('z', MAX_SEGMENT_BYTES)}/`.repeat(4),
  'm/'.repeat(MAX_NAME_BYTES / 2),
]

/** A name of 1,024 bytes, of segments that are as long as they may be. */
function longest(character: string): string {
  const whole = segmentOf(character, MAX_SEGMENT_BYTES)
  return [whole, whole, whole, segmentOf(character, MAX_SEGMENT_BYTES - 1), 'x'].join('/')
}

function segmentOf(character: string, bytes: number): string {
  const each = Buffer.byteLength(character)
  return character.repeat(Math.floor(bytes / each)) + 'x'.repeat(bytes % each)
}

/** Pieces that a reader of paths could change, or see more in. */
const PIECES = [
  'a',
  'b',
  '.',
  '..',
  '%',
  '%2F',
  '%2e',
  '%25',
  '?',
  '#',
  '+',
  ' ',
  '&',
  '=',
  ';',
  ':',
  '"',
  "'",
  '<',
  '*',
  '|',
  '\u00e9',
  'e\u0301',
  '\u0085',
  '\u2028',
  '\u202e',
  '\u{1f600}',
  '\uffff',
  'uploads',
  'archive',
  'me',
  '__proto__',
  '.tar.gz',
  '\u203a',
] as const

const unit = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<string>(...PIECES) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }) },
)

const segment = fc
  .array(unit, { minLength: 1, maxLength: 8 })
  .map((pieces) => pieces.join('').replaceAll(/[/\\\p{Cc}\p{Cs}]/gu, (each) => legal(each)))
  .map((text) => (text === '.' || text === '..' ? `${text}_` : text))
  .filter((text) => text !== '' && Buffer.byteLength(text) <= MAX_SEGMENT_BYTES)

/** C1 controls are allowed. */
function legal(character: string): string {
  return character > '\u007f' && character < '\u00a0' ? character : '_'
}

/** Any valid name, markers among them. */
export const fileNames: fc.Arbitrary<string> = fc
  .tuple(fc.array(segment, { minLength: 1, maxLength: 6 }), fc.constantFrom('', '', '', '/'))
  .map(([segments, end]) => segments.join('/') + end)
  .filter((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES)

/** The name of a folder, which has no content. */
export function isMarkerName(name: string): boolean {
  return name.endsWith('/')
}

/** Content by which a file is told from others; a marker's is empty. */
export function contentFor(name: string): string {
  return isMarkerName(name) ? '' : `content of ${name}`
}
