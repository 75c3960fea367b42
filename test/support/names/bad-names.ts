/** A text that is no file name, and what a refusal says of it. */
export interface BadName {
  readonly name: string
  /** The rule that it breaks; of a length with both figures. */
  readonly says: RegExp
  /** Whether names begin with it, so that it may stand as a prefix. */
  readonly isPrefix?: boolean
}

const SLASH = /slash|empty/i
const DOTS = /"\."|"\.\."/
const BACKSLASH = /backslash/

/** Each rule of the grammar, just beyond its edge: in the first, in the last and in a middle segment. */
export const BAD_NAMES: readonly BadName[] = [
  ...['/', '/a', '//', '//a', '/a/b', '/a/'].map((name) => ({ name, says: SLASH })),
  ...['a//', 'a//b', 'a/b//c', 'a///', 'a/b//'].map((name) => ({ name, says: SLASH })),
  ...['.', '..', 'a/.', 'a/..', 'a/b/..'].map((name) => ({ name, says: DOTS, isPrefix: true })),
  ...['./', '../', './a', '../a', 'a/./b', 'a/../b', 'a/../', 'a/./', '../../a', 'a/b/../../c'].map(
    (name) => ({ name, says: DOTS }),
  ),
  ...['\\', 'a\\b', 'a/b\\c', 'a\\/b', '..\\a', 'a/\\', 'a\\'].map((name) => {
    return { name, says: BACKSLASH }
  }),
  ...controls(),
  // 256 bytes in a segment.
  ...['x'.repeat(256), `a/${'x'.repeat(256)}`, `${'x'.repeat(256)}/b`, `${'x'.repeat(256)}/`].map(
    (name) => ({ name, says: bothFigures(256, 255) }),
  ),
  { name: `a/${'\u00e4'.repeat(128)}/b`, says: bothFigures(256, 255) },
  { name: '\u{1f600}'.repeat(64), says: bothFigures(256, 255) },
  { name: `a/${'\u20ac'.repeat(86)}`, says: bothFigures(258, 255) },
  { name: 'x'.repeat(1000), says: bothFigures(1000, 255) },
  // 1,025 bytes in all.
  { name: `${'x'.repeat(255)}/`.repeat(4) + 'x', says: bothFigures(1025, 1024) },
  { name: `${'m/'.repeat(512)}m`, says: bothFigures(1025, 1024) },
  { name: `${'\u00e4'.repeat(127)}/`.repeat(4) + '\u00e4\u00e4x/', says: bothFigures(1026, 1024) },
]

/** Also in text that is not UTF-8, which only JSON can have. */
export const BAD_TEXTS: readonly BadName[] = [
  { name: '', says: /empty/ },
  { name: 'a/\ud83d', says: /UTF-8/ },
  { name: '\udc00/b', says: /UTF-8/ },
]

/** Paths that do not decode to UTF-8: overlong forms, halves of a character, and percent signs without digits. */
export const BAD_SPELLINGS: readonly string[] = [
  '%ff',
  'a/%ff',
  '%ff/a',
  'a/%c0%ae%c0%ae/b',
  'a%c0%afb',
  'a/%e0%80%af/b',
  'a/%f0%80%80%ae',
  'a/%ed%a0%80',
  'a/%e2%82',
  'a%2F%e2%82',
  '%zz',
  'a/%',
  'a/%2',
  'a%2F%2',
]

function controls(): BadName[] {
  const codes = [0, 1, 9, 10, 13, 27, 31, 127]
  return codes.flatMap((code) => {
    const control = String.fromCharCode(code)
    const says = new RegExp(`U\\+${code.toString(16).toUpperCase().padStart(4, '0')}`)
    return [control, `a${control}`, `a/${control}/b`, `a/b${control}`].map((name) => ({
      name,
      says,
    }))
  })
}

/** However the figures are grouped. */
function bothFigures(is: number, most: number): RegExp {
  const figure = (number: number): string =>
    number < 1000 ? String(number) : `${String(number)[0]},?${String(number).slice(1)}`
  return new RegExp(`(?=.*\\b${figure(is)}\\b)(?=.*\\b${figure(most)}\\b)`)
}
