import { cpuMsOf } from '../../support/cpu-time.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  parseIfMatch,
  parseIfNoneMatch,
  parseStrongEntityTag,
} from '../../../src/http/headers/entity-tags.ts'

const WELL_FORMED: readonly (readonly [
  header: string | undefined,
  ifMatch: '*' | readonly string[] | undefined,
  ifNoneMatch: '*' | readonly string[] | undefined,
])[] = [
  [undefined, undefined, undefined],
  ['*', '*', '*'],
  ['"a"', ['a'], ['a']],
  ['W/"a"', [], ['a']],
  ['"a", "b"', ['a', 'b'], ['a', 'b']],
  ['"a",W/"b","c"', ['a', 'c'], ['a', 'b', 'c']],
  [',"a" ,\t, "b",', ['a', 'b'], ['a', 'b']],
  ['""', [''], ['']],
  ['"a,b"', ['a,b'], ['a,b']],
  ['"*"', ['*'], ['*']],
  [String.raw`"a\"`, ['a\\'], ['a\\']],
  ['"\u00e4"', ['\u00e4'], ['\u00e4']],
]

const MALFORMED = [
  '',
  ',',
  'a',
  '"a',
  'a"',
  '"a" "b"',
  '"a";"b"',
  '"a"b',
  '*, "a"',
  '"a", *',
  '**',
  'w/"a"',
  'W/ "a"',
  'W/a',
  'W/',
  '"a b"',
  '"a\u007f"',
  "'a'",
]

describe('the entity-tags of a condition', () => {
  it.each(WELL_FORMED)('in %j are read', (header, ifMatch, ifNoneMatch) => {
    expect(parseIfMatch(header)).toEqual(ifMatch)
    expect(parseIfNoneMatch(header)).toEqual(ifNoneMatch)
  })

  it.each(MALFORMED)('in %j are refused, and the header is named', (header) => {
    for (const [parameter, parse] of [
      ['If-Match', parseIfMatch],
      ['If-None-Match', parseIfNoneMatch],
    ] as const) {
      const refusal = expect.objectContaining({
        code: 'invalid_parameter',
        facts: { parameter },
      }) as unknown
      expect(() => parse(header)).toThrow(refusal)
    }
  })

  it('come back from any list of them (property)', () => {
    const value = fc.string({
      unit: fc.constantFrom(...Array.from('!#,;*W/\\~\u0080\u00ffabc')),
      maxLength: 12,
    })
    const tags = fc.array(fc.record({ value, weak: fc.boolean() }), { minLength: 1 })
    fc.assert(
      fc.property(tags, fc.constantFrom(',', ', ', ' ,,\t'), (tags, comma) => {
        const header = tags.map(({ value, weak }) => `${weak ? 'W/' : ''}"${value}"`).join(comma)
        expect(parseIfNoneMatch(header)).toEqual(tags.map((tag) => tag.value))
        const strong = tags.filter((tag) => !tag.weak)
        expect(parseIfMatch(header)).toEqual(strong.map((tag) => tag.value))
      }),
    )
  })

  it('take no longer than their length, whatever is wrong with them', () => {
    for (const header of [' ', ',', ', ', '"'].map((text) => `${text.repeat(50_000)}x`)) {
      const parse = (): void => expect(() => parseIfMatch(header)).toThrow('entity-tags')
      expect(cpuMsOf(parse)).toBeLessThan(125)
    }
  })
})

describe('parseStrongEntityTag', () => {
  it.each([
    ['"a"', 'a'],
    ['W/"a"', undefined],
    ['"a", "b"', undefined],
    ['a', undefined],
    ['*', undefined],
    ['', undefined],
    ['Sun, 06 Nov 1994 08:49:37 GMT', undefined],
  ])('reads %j as %j', (text, value) => {
    expect(parseStrongEntityTag(text)).toBe(value)
  })
})
