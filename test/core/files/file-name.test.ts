import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import {
  baseNameOf,
  CHARACTER_PATTERN,
  FILE_NAME_PART_PATTERN,
  FILE_NAME_PATTERN,
  FILE_NAME_PREFIX_PATTERN,
  MAX_FILE_NAME_BYTES,
  MAX_SEGMENT_BYTES,
  parentOf,
  parseFileName,
  parseFileNamePrefix,
  parseNamePart,
} from '../../../src/core/files/file-name.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Of segments as long as they may be. */
const LONGEST = `${'s'.repeat(255)}/`.repeat(4)

/** Texts near the rules: few characters, so that slashes and dots meet. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('/', '.', 'a', 'ä', '😀', '\\', '\n'), maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  }),
  fc
    .array(fc.integer({ min: 0, max: 260 }), { minLength: 1, maxLength: 6 })
    .map((lengths) => lengths.map((length) => 'x'.repeat(length)).join('/')),
)

describe('parseFileName', () => {
  it('does not repeat the name in the refusal, which is logged', () => {
    expect(() => parseFileName('secret//name')).toThrow(/^(?!.*secret)/)
  })

  it.each([
    ['', 'is empty'],
    ['..', 'has the segment ".."'],
    ['a/./b', 'has the segment "."'],
    ['a/../', 'has the segment ".."'],
    ['/a', 'begins with a slash'],
    ['/', 'begins with a slash'],
    ['a//b', 'has two slashes in a row'],
    ['a//', 'has two slashes in a row'],
    ['a\\b', 'contains a backslash'],
    ['a/\n', 'contains a control character (U+000A)'],
    ['a\u007f', 'contains a control character (U+007F)'],
    ['\ud83d', 'is not valid UTF-8'],
    [
      `a/${'ä'.repeat(128)}`,
      'has a segment of 256 bytes of UTF-8, and at most 255 are allowed in each',
    ],
    [`${LONGEST}a`, 'is too long: it has 1025 bytes of UTF-8, and at most 1024 are allowed'],
  ])('says of %j which rule it breaks', (name, rule) => {
    expect(() => parseFileName(name)).toThrow(`The file name ${rule}.`)
  })

  it('takes a name of the most bytes', () => {
    expect(parseFileName(LONGEST)).toHaveLength(MAX_FILE_NAME_BYTES)
  })

  it('takes exactly what the rule allows, unchanged, as the pattern does (property)', () => {
    const pattern = new RegExp(FILE_NAME_PATTERN, 'u')
    fc.assert(
      fc.property(text, (name) => {
        expect(refusal(name)).toBe(isAllowed(name) ? undefined : 'invalid_file_name')
        expect(!isShort(name) || pattern.test(name) === isAllowed(name)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})

describe.each([
  {
    of: 'parseFileNamePrefix',
    parameter: 'prefix',
    parse: (part: string): string => parseFileNamePrefix(part),
    pattern: FILE_NAME_PREFIX_PATTERN,
    completions: ['', 'z'].map((after) => ['', after] as const),
  },
  {
    of: 'parseNamePart',
    parameter: 'contains',
    parse: (part: string): string => parseNamePart(part, 'contains'),
    pattern: FILE_NAME_PART_PATTERN,
    completions: ['', 'z'].flatMap((before) => ['', 'z'].map((after) => [before, after] as const)),
  },
])('$of', ({ parameter, parse, pattern, completions }) => {
  it.each(['', '.', '..', '...', 'a', ' ', 'a/', 'a/b', 'a/.', 'e\u0301', '%', '_', '😀', LONGEST])(
    'takes %j unchanged',
    (part) => {
      expect(parse(part)).toBe(part)
    },
  )

  it.each(['a//', 'a/../b', 'a/./', 'a\\', '\0', 'a\n', '\u007f', '\ud83d', 'a\udc00'])(
    'refuses %j, which no name has, and says which parameter it was',
    (part) => {
      expect(() => parse(part)).toThrow(
        expect.objectContaining({ code: 'invalid_parameter', facts: { parameter } }),
      )
    },
  )

  it.each(['a'.repeat(256), 'ä'.repeat(128), `${LONGEST}a`])(
    'refuses %j, which is long',
    (part) => {
      expect(() => parse(part)).toThrow(/and at most \d+ are allowed/)
    },
  )

  it('does not repeat the text in the refusal, which is logged', () => {
    expect(() => parse('secret//name')).toThrow(/^(?!.*secret)/)
  })

  it('takes whatever is a part of a name, and nothing else (property)', () => {
    const form = new RegExp(pattern, 'u')
    fc.assert(
      fc.property(text, (part) => {
        const isPart = completions.some(([before, after]) => isAllowed(before + part + after))
        const isTaken = part === '' || isPart
        expect(taken(() => parse(part))).toBe(isTaken)
        expect(isTaken && !form.test(part)).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })
})

it.each(['/', '😀', 'a'])('takes %j as a delimiter, as its pattern does', (character) => {
  expect(parseNamePart(character, 'delimiter')).toBe(character)
  expect(character).toMatch(new RegExp(CHARACTER_PATTERN, 'u'))
})

it.each([
  ['a', '', 'a'],
  ['a/b', 'a/', 'b'],
  ['a/b/', 'a/', 'b'],
  ['a/', '', 'a'],
  ['', '', ''],
])('%j is in the folder %j as %j', (name, parent, baseName) => {
  expect([parentOf(name), baseNameOf(name)]).toEqual([parent, baseName])
})

function taken(parse: () => unknown): boolean {
  try {
    parse()
    return true
  } catch (error) {
    if (isAppError(error, 'invalid_parameter')) return false
    throw error
  }
}

/** The rule of the contract, written the long way. */
function isAllowed(name: string): boolean {
  const bytes = Buffer.from(name)
  if (bytes.length === 0 || bytes.length > MAX_FILE_NAME_BYTES) return false
  if (utf8.decode(bytes) !== name) return false
  const path = name.endsWith('/') ? name.slice(0, -1) : name
  return path.split('/').every(isSegment)
}

function isSegment(segment: string): boolean {
  if (['', '.', '..'].includes(segment)) return false
  const bytes = Buffer.from(segment)
  if (bytes.length > MAX_SEGMENT_BYTES) return false
  return bytes.every((byte) => byte > 0x1f && byte !== 0x7f && byte !== 0x5c)
}

/** Patterns tell nothing of lengths, and of surrogates that are not paired. */
function isShort(name: string): boolean {
  return Buffer.byteLength(name) <= MAX_SEGMENT_BYTES && name.isWellFormed()
}

function refusal(name: string): string | undefined {
  try {
    parseFileName(name)
    return undefined
  } catch (error) {
    if (isAppError(error)) return error.code
    throw error
  }
}
