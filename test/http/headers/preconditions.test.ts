import * as fc from 'fast-check'
import {
  evaluatePreconditions,
  parseIfMatch,
  parseIfNoneMatch,
  parsePreconditions,
  parseStrongEntityTag,
  selectRange,
  selectRepresentation,
} from '../../../src/http/headers/preconditions.ts'
import { describe, expect, it } from 'vitest'
import type { FileVersion } from '../../../src/core/files/file.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
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
  it.each(TABLE)(
    'a request with %s (%j) says %s',
    (_why, { match, unmodified, none, modified }, verdict) => {
      const conditions = parsePreconditions({
        ...(match && { 'if-match': TAGS[match] }),
        ...(unmodified && { 'if-unmodified-since': DATES[unmodified] }),
        ...(none && { 'if-none-match': TAGS[none] }),
        ...(modified && { 'if-modified-since': DATES[modified] }),
      })
      const validators = { etag: 'current', lastModified: LAST_MODIFIED }
      expect(evaluatePreconditions(conditions, validators)).toBe(verdict)
    },
  )

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
  it.each(WELL_FORMED)('entity-tags in %j are read', (header, ifMatch, ifNoneMatch) => {
    expect(parseIfMatch(header)).toEqual(ifMatch)
    expect(parseIfNoneMatch(header)).toEqual(ifNoneMatch)
  })

  it.each(MALFORMED)('entity-tags in %j are refused, and the header is named', (header) => {
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
      const parse = (): void => expect(() => parseIfMatch(header)).toThrow('entity tags')
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

const UPDATED_AT = Date.UTC(2026, 10, 21, 12)
const DATE = 'Sat, 21 Nov 2026 12:00:00 GMT'

const userId = parseUserId('alice')
const version = createVersion()
const file: FileVersion = {
  userId,
  name: parseFileName('a'),
  version,
  objectKey: objectKey(userId, version),
  size: 1000,
  sha256: '0'.repeat(64),
  crc32: 0,
  visibility: 'private',
  deviceId: null,
  createdAt: UPDATED_AT,
  updatedAt: UPDATED_AT,
  mediaType: null,
  metadata: null,
}

const ETAG = `"${version}"`
const PART = { first: 0, last: 9 }

const select = (headers: Record<string, string>, method = 'GET') =>
  selectRepresentation({ method, headers }, file)

/** Step 5 of RFC 9110 section 13.2.2: the range counts only when the client has what stands here. */
const IF_RANGE = [
  ['the tag', ETAG, PART],
  ['another tag', '"other"', 'whole'],
  ['the tag as a weak one', `W/${ETAG}`, 'whole'],
  ['several tags', `${ETAG}, "other"`, 'whole'],
  ['*', '*', 'whole'],
  ['no tag and no date', version, 'whole'],
  ['the empty text', '', 'whole'],
  ['the date, which may be that of two contents', DATE, 'whole'],
  ['another date', 'Sat, 21 Nov 2026 11:59:59 GMT', 'whole'],
] as const

describe('selectRepresentation', () => {
  it('gives the whole without conditions, and the range that is asked for', () => {
    expect(select({})).toBe('whole')
    expect(select({ range: 'bytes=0-9' })).toEqual(PART)
  })

  it.each(IF_RANGE)('a request with If-Range of %s (%j) gives %j', (_what, ifRange, selection) => {
    expect(select({ range: 'bytes=0-9', 'if-range': ifRange })).toEqual(selection)
  })

  it('gives the whole, not 416, when If-Range does not hold', () => {
    expect(select({ range: 'bytes=1000-', 'if-range': '"other"' })).toBe('whole')
  })

  it('ignores If-Range without Range', () => {
    expect(select({ 'if-range': '"other"' })).toBe('whole')
    expect(select({ 'if-range': ETAG })).toBe('whole')
  })

  it.each(['bytes=0-9', 'bytes=1000-', 'bytes=-0'])('ignores Range %s on HEAD', (range) => {
    expect(select({ range }, 'HEAD')).toBe('whole')
  })

  it('refuses a range without a byte of the file, with its size', () => {
    const refusal = { code: 'range_not_satisfiable', facts: { size: 1000 } }
    expect(() => select({ range: 'bytes=1000-' })).toThrow(expect.objectContaining(refusal))
    const held = { range: 'bytes=1000-', 'if-range': ETAG }
    expect(() => select(held)).toThrow(expect.objectContaining(refusal))
  })

  it.each(['GET', 'HEAD'])('looks at the conditions before the range, on %s', (method) => {
    const range = 'bytes=1000-'
    expect(select({ range, 'if-none-match': ETAG }, method)).toBe('nothing')
    expect(select({ range, 'if-modified-since': DATE }, method)).toBe('nothing')
    const refusal = expect.objectContaining({ code: 'precondition_failed' }) as unknown
    expect(() => select({ range, 'if-match': '"other"' }, method)).toThrow(refusal)
    const unmodified = { range, 'if-unmodified-since': 'Sat, 21 Nov 2026 11:59:59 GMT' }
    expect(() => select(unmodified, method)).toThrow(refusal)
  })

  it('gives the range when the conditions are met', () => {
    const met = { 'if-match': ETAG, 'if-none-match': '"other"', 'if-range': ETAG }
    expect(select({ range: 'bytes=0-9', ...met })).toEqual(PART)
  })
})

const SIZE = 1000
const HUGE = '9'.repeat(400)

function bytes(first: number, last: number) {
  return { first, last }
}

describe('selectRange', () => {
  it.each([
    ['bytes=0-0', bytes(0, 0)],
    ['bytes=0-499', bytes(0, 499)],
    ['bytes=999-999', bytes(999, 999)],
    ['bytes=00-007', bytes(0, 7)],
    ['bytes=500-', bytes(500, 999)],
    ['bytes=0-', bytes(0, 999)],
    ['bytes=500-5000', bytes(500, 999)],
    ['bytes=-1', bytes(999, 999)],
    ['bytes=-1000', bytes(0, 999)],
    ['bytes=-5000', bytes(0, 999)],
    ['BYTES=0-0', bytes(0, 0)],
    ['bytes= 0-0 ', bytes(0, 0)],
    ['bytes=,0-0, ,', bytes(0, 0)],
    [`bytes=0-${HUGE}`, bytes(0, 999)],
    [`bytes=-${HUGE}`, bytes(0, 999)],
    ['bytes=0-9007199254740993', bytes(0, 999)],
  ])('finds one range in %j', (header, range) => {
    expect(selectRange(header, SIZE)).toEqual(range)
  })

  it.each([
    'bytes=1000-',
    'bytes=1000-1000',
    'bytes=5000-6000',
    'bytes=-0',
    `bytes=${HUGE}-`,
    `bytes=${HUGE}-${HUGE}`,
    'bytes=9007199254740992-9007199254740993',
  ])('finds no byte in %j', (header) => {
    expect(selectRange(header, SIZE)).toBe('unsatisfiable')
  })

  it.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=,',
    'bytes=-',
    'bytes=--1',
    'bytes=1',
    'bytes=a-b',
    'bytes=0x0-0x1',
    'bytes=+0-1',
    'bytes=0.0-1',
    'bytes=1e1-20',
    'bytes=0 - 1',
    'bytes=0-1-2',
    'bytes=2-1',
    'bytes=5000-4000',
    'bytes = 0-1',
    'bytes 0-1',
    'bytes=\u0660-\u0661',
    'items=0-1',
    'bytes=0-1,2-3',
    'bytes=0-0,-1',
    'bytes=5000-,6000-',
    'bytes=0-1, bytes=2-3',
  ])('gives the whole for %j', (header) => {
    expect(selectRange(header, SIZE)).toBe('whole')
  })

  it.each([
    ['bytes=0-', 'unsatisfiable'],
    ['bytes=0-0', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=-1', 'whole'],
  ])('answers %j of an empty content with %s', (header, selected) => {
    expect(selectRange(header, 0)).toBe(selected)
  })

  it('selects what slicing the content selects (property)', () => {
    const size = fc.integer({ min: 1, max: 40 })
    const position = fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined })
    fc.assert(
      fc.property(size, position, position, (size, from, to) => {
        const selected = selectRange(`bytes=${from ?? ''}-${to ?? ''}`, size)
        expect(selected).toEqual(modelOf({ size, from, to }))
      }),
    )
  })

  it('is inside the content and never empty, whatever the header (property)', () => {
    const header = fc.string({
      unit: fc.constantFrom(...Array.from('0123456789-, =bytes')),
      maxLength: 20,
    })
    fc.assert(
      fc.property(fc.nat({ max: 100 }), header, (size, header) => {
        const selected = selectRange(`bytes=${header}`, size)
        if (typeof selected === 'string') return
        expect(selected.first).toBeGreaterThanOrEqual(0)
        expect(selected.last).toBeGreaterThanOrEqual(selected.first)
        expect(selected.last).toBeLessThan(size)
      }),
    )
  })

  it('takes no longer than the length of the header', () => {
    const parse = (): void => {
      for (const text of [' ', ',', ', ', '0']) selectRange(`bytes=${text.repeat(50_000)}x`, SIZE)
    }
    expect(cpuMsOf(parse)).toBeLessThan(500)
  })
})

/** What the bytes' positions themselves say, filtered one by one. */
function modelOf(range: { size: number; from: number | undefined; to: number | undefined }) {
  const { size, from, to } = range
  if (from === undefined && to === undefined) return 'whole'
  if (from !== undefined && to !== undefined && to < from) return 'whole'
  const positions = Array.from({ length: size }, (_, at) => at).filter((at) =>
    from === undefined ? at >= size - (to ?? 0) : at >= from && at <= (to ?? size),
  )
  const [first, last] = [positions[0], positions.at(-1)]
  return first === undefined ? 'unsatisfiable' : { first, last }
}
