import { afterEach, describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatIn,
  formatNeed,
  formatTime,
  formatWholeTime,
} from '../../web/shared/format.ts'
import { pluralIn } from '../../web/shared/plural.ts'

describe('a duration', () => {
  it.each([
    [0.2, '1 s'],
    [59.5, '1 min'],
    [60, '1 min'],
    [3541, '1 h 0 min'],
    [7199, '2 h 0 min'],
    [7201, '2 h 1 min'],
  ])('a duration of %d s is %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text)
  })
})

describe('a size', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1023, '1023 bytes'],
    [1024, '1 KiB'],
    [1003 * 2 ** 20, '0.97 GiB'],
    [999 * 2 ** 20, '999 MiB'],
    [1.96 * 2 ** 30, '1.9 GiB'],
    [5000 * 2 ** 50, '5,000 PiB'],
  ])(
    'a size of %d bytes is at least %s, in three digits where there is a larger unit',
    (bytes, text) => {
      expect(formatBytes(bytes)).toBe(text)
    },
  )

  it.each([
    [999.5 * 2 ** 20, '0.98 GiB'],
    [1.91 * 2 ** 30, '2 GiB'],
    [1.81 * 2 ** 30, '1.9 GiB'],
  ])('a size of %d bytes fits into %s', (bytes, text) => {
    expect(formatNeed(bytes)).toBe(text)
  })
})

describe('in German', () => {
  afterEach(() => formatIn('en'))

  it('numbers, sizes and times are as they are written there', () => {
    formatIn('de')
    expect([0, 1, 1023, 1.96 * 2 ** 30, 5000 * 2 ** 50].map(formatBytes)).toEqual([
      '0 Byte',
      '1\u{a0}Byte',
      '1023 Byte',
      '1,9 GiB',
      '5.000 PiB',
    ])
    expect(formatCount(1_234_567)).toBe('1.234.567')
    expect(formatTime('2020-12-24T12:00:00Z')).toBe('24. Dez. 2020')
    expect(formatWholeTime('2020-12-24T12:00:00Z')).toMatch(/^Donnerstag, 24\. Dezember 2020/)
  })
})

describe('a word', () => {
  it('has the form for its count that the language has', () => {
    const forms = { one: 'plik', few: 'pliki', many: 'plików', other: 'pliku' }
    expect([1, 2, 5, 22].map((count) => pluralIn('pl')(count, forms))).toEqual([
      'plik',
      'pliki',
      'plików',
      'pliki',
    ])
    expect([1, 2].map((count) => pluralIn('de')(count, { other: 'Byte' }))).toEqual([
      'Byte',
      'Byte',
    ])
  })
})
