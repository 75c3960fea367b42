import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  evaluatePreconditions,
  parseIfMatch,
  parseIfNoneMatch,
  parsePreconditions,
  parseStrongEntityTag,
} from '../../../src/http/headers/preconditions.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'

const LAST_MODIFIED = Date.UTC(2026, 10, 21, 12, 0, 0, 789)

const TAGS = { same: '"current"', other: '"other"', weak: 'W/"current"', any: '*' } as const

const DATES = {
  same: 'Sat, 21 Nov 2026 12:00:00 GMT',
  earlier: 'Sat, 21 Nov 2026 11:59:59 GMT',
  later: 'Sat, 21 Nov 2026 12:00:01 GMT',
  invalid: 'yesterday',
} as const

type Tag = keyof typeof TAGS
type Day = keyof typeof DATES

interface Conditions {
  readonly match?: Tag
  readonly unmodified?: Day
  readonly none?: Tag
  readonly modified?: Day
}

/** RFC 9110 section 13.2.2, step by step; what a line leaves out is not in the request. */
const TABLE: readonly (readonly [string, Conditions, 'met' | 'not_modified' | 'failed'])[] = [
  ['nothing', {}, 'met'],
  // 1. If-Match is false: 412; true: on to 3.
  ['the tag matches', { match: 'same' }, 'met'],
  ['any tag matches', { match: 'any' }, 'met'],
  ['another tag does not', { match: 'other' }, 'failed'],
  ['a weak tag does not, even with the same value', { match: 'weak' }, 'failed'],
  ['If-Match outranks a failing date', { match: 'same', unmodified: 'earlier' }, 'met'],
  ['If-Match outranks a date that holds', { match: 'other', unmodified: 'same' }, 'failed'],
  // 2. Without If-Match, If-Unmodified-Since is false: 412; true: on to 3.
  ['unmodified since its own second', { unmodified: 'same' }, 'met'],
  ['unmodified since later', { unmodified: 'later' }, 'met'],
  ['modified since earlier', { unmodified: 'earlier' }, 'failed'],
  ['an invalid date is no condition', { unmodified: 'invalid' }, 'met'],
  // 3. If-None-Match is false: 304; true: on to 5, whatever If-Modified-Since says.
  ['none matches', { none: 'other' }, 'met'],
  ['one matches', { none: 'same' }, 'not_modified'],
  ['one matches weakly', { none: 'weak' }, 'not_modified'],
  ['any matches', { none: 'any' }, 'not_modified'],
  ['a new tag outranks an old date', { none: 'other', modified: 'later' }, 'met'],
  ['an old tag outranks a new date', { none: 'same', modified: 'earlier' }, 'not_modified'],
  // 4. Without If-None-Match, If-Modified-Since is false: 304.
  ['modified since earlier', { modified: 'earlier' }, 'met'],
  ['not modified since its own second', { modified: 'same' }, 'not_modified'],
  ['not modified since later', { modified: 'later' }, 'not_modified'],
  ['an invalid date is no condition', { modified: 'invalid' }, 'met'],
  // What fails is told before what has not changed.
  ['412 before 304 by tags', { match: 'other', none: 'same' }, 'failed'],
  ['412 before 304 by dates', { unmodified: 'earlier', modified: 'same' }, 'failed'],
  ['412 before 304 by tag and date', { match: 'other', modified: 'same' }, 'failed'],
  ['412 before 304 by date and tag', { unmodified: 'earlier', none: 'same' }, 'failed'],
  ['304 after If-Match held', { match: 'same', none: 'same' }, 'not_modified'],
  ['304 after If-Match held, by date', { match: 'any', modified: 'same' }, 'not_modified'],
  ['304 after the date held', { unmodified: 'same', none: 'any' }, 'not_modified'],
  ['304 after the date held, by date', { unmodified: 'same', modified: 'same' }, 'not_modified'],
  ['all hold', { match: 'same', unmodified: 'same', none: 'other', modified: 'earlier' }, 'met'],
  ['no rank for a failing tag', { match: 'same', unmodified: 'earlier', none: 'other' }, 'met'],
]

describe('evaluatePreconditions', () => {
  it.each(TABLE)('with %s (%j) says %s', (_why, { match, unmodified, none, modified }, verdict) => {
    const conditions = parsePreconditions({
      ...(match && { 'if-match': TAGS[match] }),
      ...(unmodified && { 'if-unmodified-since': DATES[unmodified] }),
      ...(none && { 'if-none-match': TAGS[none] }),
      ...(modified && { 'if-modified-since': DATES[modified] }),
    })
    const validators = { etag: 'current', lastModified: LAST_MODIFIED }
    expect(evaluatePreconditions(conditions, validators)).toBe(verdict)
  })

  it('finds a tag in a list', () => {
    const headers = { 'if-match': '"a", "current"', 'if-none-match': '"a", W/"b"' }
    const validators = { etag: 'current', lastModified: LAST_MODIFIED }
    expect(evaluatePreconditions(parsePreconditions(headers), validators)).toBe('met')
  })
})

describe('parsePreconditions', () => {
  it.each(['if-match', 'if-none-match'])('refuses a malformed %s', (header) => {
    const parse = () => parsePreconditions({ [header]: 'current' })
    expect(parse).toThrow(expect.objectContaining({ code: 'invalid_parameter' }))
  })
})

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
