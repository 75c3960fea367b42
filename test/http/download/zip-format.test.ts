import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  centralHeader,
  endOfArchive,
  localBytes,
  localHeader,
  type ZipEntry,
  zipLength,
} from '../../../src/http/download/zip-format.ts'

const GIB = 2 ** 30
const MAX = 0xffff_ffff

function entryOf(more: Partial<ZipEntry> = {}): ZipEntry {
  return { name: 'a', size: 3, crc32: 0x12345678, updatedAt: Date.UTC(2026, 10, 29), ...more }
}

describe('the local header of an entry', () => {
  it('has its size and CRC-32, so that no data descriptor follows, and its name in UTF-8', () => {
    const header = localHeader(entryOf({ name: 'é/😀', size: 70_000 }))
    expect(header.readUInt16LE(6)).toBe(0x0800)
    expect(header.readUInt16LE(8)).toBe(0)
    expect([14, 18, 22].map((at) => header.readUInt32LE(at))).toEqual([0x12345678, 70_000, 70_000])
    expect(header.readUInt16LE(26)).toBe(7)
    expect(header.subarray(30, 37).toString()).toBe('é/😀')
  })

  it('has both sizes in ZIP64 if they do not fit, and only then', () => {
    expect(extrasOf(localHeader(entryOf({ size: MAX - 1 })), 30).has(1)).toBe(false)
    const large = localHeader(entryOf({ size: MAX }))
    expect([large.readUInt16LE(4), large.readUInt32LE(18), large.readUInt32LE(22)]).toEqual([
      45,
      MAX,
      MAX,
    ])
    expect(valuesOf(extrasOf(large, 30))).toEqual([MAX, MAX])
  })

  it.each([
    ['in UTC', Date.UTC(2026, 10, 29, 12, 30, 59, 999), 1795955459],
    ['before 1970', -1, -1],
    ['at the last second of 32 bits', (2 ** 31 - 1) * 1000, 2 ** 31 - 1],
    ['of none after that', 2 ** 31 * 1000, undefined],
    ['of none before 32 bits', -(2 ** 31) * 1000 - 1, undefined],
  ])('has the time %s', (_what, updatedAt, seconds) => {
    for (const [header, fixed] of [
      [localHeader(entryOf({ updatedAt })), 30],
      [centralHeader(entryOf({ updatedAt }), 0), 46],
    ] as const) {
      const extra = extrasOf(header, fixed).get(0x5455)
      expect([extra?.readUInt8(0), extra?.readInt32LE(1)]).toEqual(
        seconds === undefined ? [undefined, undefined] : [1, seconds],
      )
    }
  })
})

describe('the central header of an entry', () => {
  it.each([
    { which: 'fits', size: 3, offset: 7, values: [] },
    { which: 'fits barely', size: MAX - 1, offset: MAX - 1, values: [] },
    { which: 'is far back', size: 3, offset: MAX, values: [MAX] },
    { which: 'is large', size: 5 * GIB, offset: 7, values: [5 * GIB, 5 * GIB] },
    { which: 'is both', size: 5 * GIB, offset: 6 * GIB, values: [5 * GIB, 5 * GIB, 6 * GIB] },
  ])('has in ZIP64 what does not fit, of one that $which', ({ size, offset, values }) => {
    const header = centralHeader(entryOf({ size }), offset)
    expect(valuesOf(extrasOf(header, 46))).toEqual(values)
    expect(header.readUInt16LE(6)).toBe(values.length > 0 ? 45 : 20)
    expect(header.readUInt32LE(42)).toBe(Math.min(offset, MAX))
  })

  it('says which entries are directories', () => {
    const attributes = ['a', 'a/'].map((name) =>
      centralHeader(entryOf({ name }), 0).readUInt32LE(38),
    )
    expect(attributes.map((value) => [(value >>> 16).toString(8), value & 0xffff])).toEqual([
      ['100644', 0],
      ['40755', 0x10],
    ])
  })
})

describe('the end of an archive', () => {
  it.each([
    { entries: 65_535, offset: 7, bytes: 9, is64: false },
    { entries: 65_536, offset: 7, bytes: 9, is64: true },
    { entries: 1, offset: MAX - 1, bytes: 9, is64: false },
    { entries: 1, offset: MAX, bytes: 9, is64: true },
    { entries: 1, offset: 7, bytes: MAX, is64: true },
  ])(
    'is ZIP64 only where it has to be: $entries entries, at $offset, of $bytes bytes',
    ({ is64, ...directory }) => {
      const { entries, offset, bytes } = directory
      const end = endOfArchive(directory)
      expect(end.length).toBe(is64 ? 98 : 22)
      const classic = end.subarray(-22)
      expect(
        [10, 12, 16].map((at) => (at === 10 ? classic.readUInt16LE(at) : classic.readUInt32LE(at))),
      ).toEqual([Math.min(entries, 0xffff), bytes, offset])
      if (!is64) return
      expect([32, 40, 48, 64].map((at) => Number(end.readBigUInt64LE(at)))).toEqual([
        entries,
        bytes,
        offset,
        offset + bytes,
      ])
    },
  )
})

it('the length of an archive is that of its records and contents, of any size and number', () => {
  const entry = fc.record({
    name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    size: fc.oneof(fc.nat(), fc.constantFrom(0, MAX - 1, MAX, MAX + 1, 5 * GIB)),
    crc32: fc.nat(),
    updatedAt: fc.oneof(fc.nat(), fc.constant(2 ** 43)),
  })
  const property = fc.property(fc.array(entry), (entries) => {
    let offset = 0
    let bytes = 0
    for (const each of entries) {
      bytes += centralHeader(each, offset).length
      expect(localHeader(each)).toHaveLength(localBytes(each))
      offset += localHeader(each).length + each.size
    }
    const end = endOfArchive({ entries: entries.length, offset, bytes })
    expect(zipLength(entries)).toBe(offset + bytes + end.length)
  })
  expect(fc.assert(property)).toBeUndefined()
})

/** The extra fields by their ids. */
function extrasOf(header: Buffer, fixed: 30 | 46): ReadonlyMap<number, Buffer> {
  const lengths = fixed === 30 ? 26 : 28
  const extras = header.subarray(fixed + header.readUInt16LE(lengths))
  expect(extras).toHaveLength(header.readUInt16LE(lengths + 2))
  const found = new Map<number, Buffer>()
  for (let at = 0; at < extras.length;) {
    const end = at + 4 + extras.readUInt16LE(at + 2)
    found.set(extras.readUInt16LE(at), extras.subarray(at + 4, end))
    at = end
  }
  return found
}

function valuesOf(extras: ReadonlyMap<number, Buffer>): readonly number[] {
  const zip64 = extras.get(1) ?? Buffer.alloc(0)
  return Array.from({ length: zip64.length / 8 }, (_, at) => Number(zip64.readBigUInt64LE(8 * at)))
}
