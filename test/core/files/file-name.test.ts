import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import {
  MAX_FILE_NAME_BYTES,
  parseFileName,
  parseFileNamePrefix,
} from '../../../src/core/files/file-name.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

describe('parseFileName', () => {
  it('does not repeat the name in the refusal, which is logged', () => {
    expect(() => parseFileName('secret/name')).toThrow(/^(?!.*secret)/)
  })

  it.each([
    ['', 'is empty'],
    ['..', 'must not be "." or ".."'],
    ['a/b', 'contains a slash'],
    ['a\\b', 'contains a backslash'],
    ['a\n', 'contains a control character (U+000A)'],
    ['a\u007f', 'contains a control character (U+007F)'],
    ['\ud83d', 'is not valid UTF-8'],
    ['ä'.repeat(150), 'is too long: it has 300 bytes of UTF-8, and at most 255 are allowed'],
  ])('says of %j which rule it breaks', (name, rule) => {
    expect(() => parseFileName(name)).toThrow(`The file name ${rule}.`)
  })

  it('takes exactly what the rule allows, unchanged (property)', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({
        unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      }),
      fc.constantFrom('.', '..', '...'),
    )
    fc.assert(
      fc.property(text, (name) => {
        expect(refusal(name)).toBe(isAllowed(name) ? undefined : 'invalid_file_name')
      }),
      { numRuns: 1000 },
    )
  })
})

describe('parseFileNamePrefix', () => {
  it.each(['', '.', '..', '...', 'a', ' ', 'e\u0301', '%', '_', '😀', 'a'.repeat(255)])(
    'takes %j unchanged',
    (prefix) => {
      expect(parseFileNamePrefix(prefix)).toBe(prefix)
    },
  )

  it.each([
    '/',
    '../../',
    'a/b',
    'a\\',
    '\0',
    'a\n',
    '\u007f',
    '\ud83d',
    'a\udc00',
    'a'.repeat(256),
    'ä'.repeat(128),
  ])('refuses %j, with which no name begins, and says which parameter it was', (prefix) => {
    expect(() => parseFileNamePrefix(prefix)).toThrow(
      expect.objectContaining({ code: 'invalid_parameter', facts: { parameter: 'prefix' } }),
    )
  })

  it('does not repeat the prefix in the refusal, which is logged', () => {
    expect(() => parseFileNamePrefix('secret/name')).toThrow(/^(?!.*secret)/)
  })

  it('takes whatever a name begins with, and nothing else (property)', () => {
    const text = fc.string({ unit: 'binary', maxLength: 260 })
    fc.assert(
      fc.property(text, (prefix) => {
        const isPath = prefix === '.' || prefix === '..'
        const canBegin = prefix === '' || isPath || isAllowed(prefix)
        expect(isTaken(prefix)).toBe(canBegin)
      }),
      { numRuns: 1000 },
    )
  })
})

function isTaken(prefix: string): boolean {
  try {
    return parseFileNamePrefix(prefix) === prefix
  } catch (error) {
    if (isAppError(error, 'invalid_parameter')) return false
    throw error
  }
}

/** The rule of the contract, written the long way. */
function isAllowed(name: string): boolean {
  const bytes = Buffer.from(name)
  if (bytes.length === 0 || bytes.length > MAX_FILE_NAME_BYTES) return false
  if (name === '.' || name === '..' || utf8.decode(bytes) !== name) return false
  return bytes.every((byte) => byte > 0x1f && byte !== 0x7f && byte !== 0x2f && byte !== 0x5c)
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
