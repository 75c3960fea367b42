import * as fc from 'fast-check'
import { type FileName, parseFileName } from '../../../src/core/files/file-name.ts'
import {
  contentDisposition,
  formatReprDigest,
  parseReprDigest,
  wantsReprDigest,
} from '../../../src/http/headers/content-headers.ts'
import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '../../support/cpu-time.ts'

const VALUE =
  /^attachment; filename="([^"\\]*)"; filename\*=UTF-8''((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})*)$/

const fileName = fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }).filter(isFileName)

function isFileName(text: string): text is FileName {
  try {
    return parseFileName(text) === text
  } catch {
    return false
  }
}

function parts(name: string): { ascii: string | undefined; encoded: string } {
  const [, ascii, encoded = ''] = VALUE.exec(contentDisposition(parseFileName(name))) ?? []
  return { ascii, encoded }
}

describe('contentDisposition', () => {
  it('names the file twice, for old clients and exactly', () => {
    expect(contentDisposition(parseFileName('report 2027.pdf'))).toBe(
      `attachment; filename="report 2027.pdf"; filename*=UTF-8''report%202027.pdf`,
    )
  })

  it.each([
    ['"; filename=evil.exe', '_; filename=evil.exe', '%22%3B%20filename%3Devil.exe'],
    ['ä😀', '__', '%C3%A4%F0%9F%98%80'],
    ["a'(b)*", "a'(b)*", 'a%27%28b%29%2A'],
    ['100%41', '100_41', '100%2541'],
  ])('writes %j as %j and %s', (name, ascii, encoded) => {
    expect(parts(name)).toEqual({ ascii, encoded })
  })

  it('is printable ASCII and well-formed, whatever the name (property)', () => {
    fc.assert(
      fc.property(fileName, (name) => {
        const value = contentDisposition(name)
        expect(value).toMatch(/^[\u0020-\u007e]*$/)
        expect(value).toMatch(VALUE)
        expect(new Headers({ 'content-disposition': value }).get('content-disposition')).toBe(value)
      }),
    )
  })

  it('decodes back to the exact name (property)', () => {
    fc.assert(
      fc.property(fileName, (name) => {
        expect(decodeURIComponent(parts(name).encoded)).toBe(name)
      }),
    )
  })
})

/** Of the content `hello`. */
const SHA256 = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
const MEMBER = 'sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:'
const SHA512 = 'sha-512=:YMAvYRpsLEyQ:'

describe('Repr-Digest', () => {
  it('is written as RFC 9530 has it', () => {
    expect(formatReprDigest(SHA256)).toBe(MEMBER)
  })

  it.each([
    ['alone', MEMBER],
    ['among others', `${SHA512}, ${MEMBER},md5=:AAAA:`],
    ['with parameters', `${MEMBER};q=1`],
    ['as the last of two', `sha-256=:AAAA:, ${MEMBER}`],
  ])('is read %s', (_how, header) => {
    expect(parseReprDigest(header)).toBe(SHA256)
  })

  it.each([undefined, '', SHA512, 'unixsum=30637', 'md5=:AAAA:, sha=:AAAA:'])(
    'says nothing of SHA-256 in %j',
    (header) => {
      expect(parseReprDigest(header)).toBeUndefined()
    },
  )

  it.each([
    'sha-256',
    'sha-256=',
    'sha-256=::',
    'sha-256=:AAAA:',
    `sha-256=:${'A'.repeat(44)}:`,
    'sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=',
    'sha-256=LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=',
    'sha-256=:LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:',
    'sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=: x',
    `sha-256="${SHA256}"`,
    `sha-256=(${MEMBER.slice('sha-256='.length)})`,
    `SHA-256=${MEMBER.slice('sha-256='.length)}`,
    `${MEMBER},`,
    `${MEMBER} ${SHA512}`,
    'sha-256:',
    '\u00e4',
  ])('is refused as %j', (header) => {
    const refusal = { code: 'invalid_parameter', facts: { parameter: 'Repr-Digest' } }
    expect(() => parseReprDigest(header)).toThrow(expect.objectContaining(refusal))
  })

  it('reads back every digest that it writes (property)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const sha256 = Buffer.from(bytes).toString('hex')
        expect(parseReprDigest(formatReprDigest(sha256))).toBe(sha256)
      }),
    )
  })

  it('takes no longer than its length, whatever is wrong with it', () => {
    for (const text of [' ', ',', 'a,', 'a;', '(', ':', 'a=1,', 'a="', ' \t']) {
      const parse = (): void => expect(wantsReprDigest(`a${text.repeat(16_384)}\u0000`)).toBe(false)
      expect(cpuMsOf(parse)).toBeLessThan(110)
    }
  })
})

describe('Want-Repr-Digest', () => {
  it.each(['sha-256=1', 'sha-256=10', 'sha-512=10, sha-256=3', 'sha-256=5;a'])(
    'wants one with %j',
    (header) => {
      expect(wantsReprDigest(header)).toBe(true)
    },
  )

  it.each([
    undefined,
    '',
    'sha-256=0',
    'sha-256=11',
    'sha-256=-1',
    'sha-256=1.5',
    'sha-256',
    'sha-256="5"',
    'sha-256=(5)',
    'sha-256=?1',
    'sha-512=10',
    'sha-256=5,',
    'sha-256=5 x',
    'SHA-256=5',
  ])('wants none with %j', (header) => {
    expect(wantsReprDigest(header)).toBe(false)
  })
})
