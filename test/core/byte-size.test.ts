import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatByteSize, isByteSize, MAX_BYTES, parseByteSize } from '../../src/core/byte-size.ts'
import { isAppError } from '../../src/core/errors.ts'

const size = fc.maxSafeNat()

describe('parseByteSize', () => {
  it.each([
    ['0', 0],
    ['1048576', 1_048_576],
    ['5B', 5],
    ['2KB', 2000],
    ['2KiB', 2048],
    ['3MiB', 3 * 2 ** 20],
    ['3GB', 3e9],
    ['500MB', 500_000_000],
    ['5GiB', 5 * 2 ** 30],
    ['5 GiB', 5 * 2 ** 30],
    [' 5gib ', 5 * 2 ** 30],
    ['1.5GiB', 1.5 * 2 ** 30],
    ['1TB', 1e12],
    ['2TiB', 2 * 2 ** 40],
    ['0KB', 0],
    ['9007199254740991', MAX_BYTES],
  ])('reads %j as %d bytes', (text, bytes) => {
    expect(parseByteSize(text)).toBe(bytes)
  })

  it.each([
    '',
    'GiB',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1.5',
    '1.5B',
    '0.0001KB',
    '.5GiB',
    '5.',
    '1,5GB',
    '1 2',
    '5PiB',
    '5 G',
    'Infinity',
    'NaN',
    '9007199254740992',
    '9000TiB',
    '5GiB/s',
    'constructor',
    '1constructor',
  ])('refuses %j', (text) => {
    expect(() => parseByteSize(text)).toThrow(
      expect.objectContaining({ code: 'invalid_parameter' }),
    )
  })

  it('reads whole bytes back as they were written (property)', () => {
    fc.assert(
      fc.property(size, (bytes) => {
        expect(parseByteSize(String(bytes))).toBe(bytes)
      }),
    )
  })

  it('reads a whole number of bytes exactly, however it is written in KB, MB, GB or TB (property)', () => {
    const unit = fc.constantFrom(
      { name: 'KB', digits: 3 },
      { name: 'MB', digits: 6 },
      { name: 'GB', digits: 9 },
      { name: 'TB', digits: 12 },
    )
    fc.assert(
      fc.property(size, unit, (bytes, { name, digits }) => {
        const text = String(bytes).padStart(digits + 1, '0')
        const decimal = `${text.slice(0, -digits)}.${text.slice(-digits)}${name}`
        expect(parseByteSize(decimal)).toBe(bytes)
      }),
      { examples: [[1005, { name: 'KB', digits: 3 }]] },
    )
  })

  it.each(['1.00000000000000000001', '9007199254740990.9', '0.99999999999999999999KiB'])(
    'refuses the fraction of a byte in %j, however small',
    (text) => {
      expect(() => parseByteSize(text)).toThrow(
        expect.objectContaining({ code: 'invalid_parameter' }),
      )
    },
  )

  it('answers any text with a byte size or with invalid_parameter (property)', () => {
    const text = fc.oneof(
      fc.string(),
      fc.stringMatching(/^\d{0,20}\.?\d{0,3} ?[kKmMgGtTiIbB]{0,3}$/),
    )
    fc.assert(
      fc.property(text, (text) => {
        expect(readsOrRefuses(text)).toBe(true)
      }),
    )
  })
})

describe('isByteSize', () => {
  it('is true of whole numbers from 0 to 2^53 - 1 (property)', () => {
    fc.assert(
      fc.property(size, (bytes) => {
        expect(isByteSize(bytes)).toBe(true)
      }),
    )
  })

  it.each([-1, 0.5, Number.NaN, Infinity, MAX_BYTES + 1, '5', null, undefined, 5n])(
    'is false of %s',
    (value) => {
      expect(isByteSize(value)).toBe(false)
    },
  )
})

function readsOrRefuses(text: string): boolean {
  try {
    return isByteSize(parseByteSize(text))
  } catch (error) {
    return isAppError(error, 'invalid_parameter')
  }
}

describe('formatByteSize', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [1200, '1.17 KiB'],
    [2 ** 20 - 1, '1 MiB'],
    [1.5 * 2 ** 30, '1.5 GiB'],
    [2 * 2 ** 30, '2 GiB'],
    [1003 * 2 ** 20, '1003 MiB'],
    [2 ** 40, '1 TiB'],
    [MAX_BYTES, '8 PiB'],
  ])('writes %d as %s', (bytes, text) => {
    expect(formatByteSize(bytes)).toBe(text)
  })

  it('writes what parseByteSize reads, to a hundredth of its unit (property)', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 31 - 1 }), (bytes) => {
        const [number = '', unit = ''] = formatByteSize(bytes).split(' ')
        const scale = parseByteSize(`1${unit}`)
        expect(Math.abs(Number(number) * scale - bytes)).toBeLessThanOrEqual(scale * 0.005_001)
      }),
    )
  })
})
