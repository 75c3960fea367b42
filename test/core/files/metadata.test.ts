import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  MAX_METADATA_BYTES,
  membersOf,
  mergeMetadata,
  NO_METADATA,
  parseMetadata,
} from '../../../src/core/files/metadata.ts'

const largest = JSON.stringify({ a: 'é'.repeat((MAX_METADATA_BYTES - 8) / 2) })

const members = fc.dictionary(
  fc.string({ unit: 'grapheme', maxLength: 10 }).filter((name) => name !== '__proto__'),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  { maxKeys: 6 },
)

describe('metadata', () => {
  it.each([
    ['{}', '{}'],
    [' {"a": "b",\n"c":"" } ', '{"a":"b","c":""}'],
    [String.raw`{"\u0061":"\u00e9"}`, '{"a":"é"}'],
    ['{"a":"b","a":"c"}', '{"a":"c"}'],
    ['{"a":"__proto__"}', '{"a":"__proto__"}'],
    [largest, largest],
  ])('are %s', (text, compact) => {
    expect(parseMetadata(text)).toBe(compact)
  })

  it.each([
    '',
    'a',
    'null',
    '[]',
    '"a"',
    '{"a":1}',
    '{"a":null}',
    '{"a":{"b":"c"}}',
    '{"a":["b"]}',
    '{"a":"b"',
    '{"a":"b"}{}',
    '{"__proto__":"a"}',
    String.raw`{"a":"\ud800"}`,
    String.raw`{"\udc00":"a"}`,
    largest.replace('é', 'éa'),
  ])('are not %s', (text) => {
    expect(() => parseMetadata(text, 'File-Metadata')).toThrow(/^File-Metadata must be/)
  })

  it('are merged as RFC 7396 merges, and are none when nothing is left', () => {
    const patch = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'toString', ''),
      fc.option(fc.constantFrom('x', 'y')),
    )
    fc.assert(
      fc.property(members, patch, (old, changes) => {
        const merged = mergeMetadata(parseMetadata(JSON.stringify(old)), changes)
        const expected = new Map(Object.entries(old))
        for (const [name, value] of Object.entries(changes)) {
          if (value === null) expected.delete(name)
          else expected.set(name, value)
        }
        expect(membersOf(merged)).toEqual(Object.fromEntries(expected))
        expect(merged === null).toBe(expected.size === 0)
      }),
    )
    expect(mergeMetadata(parseMetadata('{"a":"b"}'), null)).toBeNull()
    expect(mergeMetadata(null, {})).toBeNull()
    expect(membersOf(NO_METADATA)).toEqual({})
  })

  it('stay the same text when a patch changes no member', () => {
    const text = parseMetadata('{"b":"1","a":"2","3":"4"}')
    expect(mergeMetadata(text, { a: '2', c: null })).toBe(text)
  })

  it('are refused if a merge makes them too large, or brings what is no text', () => {
    const old = parseMetadata(largest)
    for (const patch of [{ b: '' }, { a: null, b: '\ud800' }]) {
      expect(() => mergeMetadata(old, patch)).toThrow(/metadata must be/)
    }
  })
})
