import { describe, expect, it } from 'vitest'
import type { File } from '../../../src/core/files/file.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { objectKey } from '../../../src/core/objects/object-key.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createVersion } from '../../../src/core/objects/version.ts'
import { selectRepresentation } from '../../../src/http/headers/conditional-get.ts'

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
