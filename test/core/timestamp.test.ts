import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatTimestamp, parseTimestamp } from '../../src/core/timestamp.ts'

describe('parseTimestamp', () => {
  it.each([
    ['2027-01-31T00:00:00Z', Date.UTC(2027, 0, 31)],
    ['2027-01-31t00:00:00z', Date.UTC(2027, 0, 31)],
    ['2027-01-31T01:30:00+01:30', Date.UTC(2027, 0, 31)],
    ['2027-01-30T23:59:59.5-00:00', Date.UTC(2027, 0, 30, 23, 59, 59, 500)],
    ['2027-01-30T23:59:59.999999999Z', Date.UTC(2027, 0, 30, 23, 59, 59, 999)],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
    ['1969-12-31T23:59:59Z', -1000],
    ['0000-01-01T00:00:00Z', -62_167_219_200_000],
    ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
  ])('reads %s', (text, ms) => {
    expect(parseTimestamp(text, 'ends_at')).toBe(ms)
  })

  it.each([
    '',
    'tomorrow',
    '2027-01-31',
    '2027-01-31T00:00Z',
    '2027-01-31T00:00:00',
    '2027-01-31 00:00:00Z',
    '2027-1-31T00:00:00Z',
    '2027-02-29T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-00-10T00:00:00Z',
    '2027-01-00T00:00:00Z',
    '2027-01-31T24:00:00Z',
    '2027-01-31T00:60:00Z',
    '2027-01-31T00:00:60Z',
    '2027-01-31T00:00:00+24:00',
    '2027-01-31T00:00:00+00:60',
    '2027-01-31T00:00:00+0100',
    '2027-01-31T00:00:00.Z',
    '+002027-01-31T00:00:00Z',
    '0000-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    ' 2027-01-31T00:00:00Z',
    '2027-01-31T00:00:00Z\n',
    '1800000000000',
  ])('refuses %j and names the parameter', (text) => {
    expect(() => parseTimestamp(text, 'ends_at')).toThrow(
      expect.objectContaining({ code: 'invalid_parameter', facts: { parameter: 'ends_at' } }),
    )
  })

  it('reads what formatTimestamp writes (property)', () => {
    const times = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(times, (time) => {
        expect(parseTimestamp(formatTimestamp(time.getTime()), 'ends_at')).toBe(time.getTime())
      }),
    )
  })
})

describe('formatTimestamp', () => {
  it('writes no time as null', () => {
    expect(formatTimestamp(undefined)).toBeNull()
  })
})
