import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { File } from '../../../src/core/files/file.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { objectKey } from '../../../src/core/objects/object-key.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createVersion } from '../../../src/core/objects/version.ts'
import { selectRange, selectRepresentation } from '../../../src/http/headers/conditional-get.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'

const UPDATED_AT = Date.UTC(2026, 10, 21, 12)
const DATE = 'Sat, 21 Nov 2026 12:00:00 GMT'

const userId = parseUserId('alice')
const version = createVersion()
const file: File = {
  userId,
  name: parseFileName('a'),
  version,
  objectKey: objectKey(userId, version),
  size: 1000,
  sha256: '0'.repeat(64),
  visibility: 'private',
  createdAt: UPDATED_AT,
  updatedAt: UPDATED_AT,
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

  it.each(IF_RANGE)('with If-Range of %s (%j) gives %j', (_what, ifRange, selection) => {
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
