import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHttpDate } from '../../../src/http/headers/http-date.ts'

const EXAMPLE = Date.UTC(1994, 10, 6, 8, 49, 37)
const NOW = Date.UTC(2026, 10, 21)

describe('parseHttpDate', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', EXAMPLE],
    ['Sunday, 06-Nov-94 08:49:37 GMT', EXAMPLE],
    ['Sun Nov  6 08:49:37 1994', EXAMPLE],
    ['Sun Nov 16 08:49:37 1994', EXAMPLE + 864e6],
    ['Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['Fri, 31 Dec 9999 23:59:59 GMT', Date.UTC(9999, 11, 31, 23, 59, 59)],
    ['Sat, 01 Jan 0050 00:00:00 GMT', Date.parse('0050-01-01T00:00:00Z')],
  ])('reads %j', (text, time) => {
    expect(parseHttpDate(text, NOW)).toBe(time)
  })

  it.each([
    ['76', 2076],
    ['77', 1977],
    ['00', 2000],
    ['26', 2026],
  ])('takes the year %s for %d in 2026', (digits, year) => {
    const time = parseHttpDate(`Monday, 06-Nov-${digits} 08:49:37 GMT`, NOW)
    expect(new Date(time ?? NaN).getUTCFullYear()).toBe(year)
  })

  it.each([
    '',
    '0',
    '2026-11-21T00:00:00Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'sun, 06 nov 1994 08:49:37 gmt',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Xyz, 06 Nov 1994 08:49:37 GMT',
    'Sun, 31 Nov 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Wed, 29 Feb 2023 00:00:00 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    ' Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
  ])('takes %j for no date', (text) => {
    expect(parseHttpDate(text)).toBeUndefined()
  })

  it('reads back every date that JavaScript writes, in whole seconds (property)', () => {
    const date = fc.date({
      min: new Date('0000-01-01'),
      max: new Date('9999-12-31'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(date, (date) => {
        const time = date.getTime()
        expect(parseHttpDate(date.toUTCString())).toBe(Math.floor(time / 1000) * 1000)
      }),
    )
  })
})
