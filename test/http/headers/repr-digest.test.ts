import * as fc from 'fast-check'
import {
  formatReprDigest,
  parseReprDigest,
  wantsReprDigest,
} from '../../../src/http/headers/repr-digest.ts'
import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '../../support/cpu-time.ts'

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
