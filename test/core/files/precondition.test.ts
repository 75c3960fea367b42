import { describe, expect, it } from 'vitest'
import type { FileVersion } from '../../../src/core/files/file.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import {
  includesEntityTag,
  isMet,
  type Precondition,
  preconditionFailed,
} from '../../../src/core/files/precondition.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'

const MODIFIED = Date.UTC(2026, 10, 21, 12, 0, 0) + 500
const version = createVersion()
const userId = parseUserId('alice')
const file: FileVersion = {
  userId,
  name: parseFileName('a'),
  version,
  objectKey: objectKey(userId, version),
  size: 1,
  sha256: '0'.repeat(64),
  crc32: 0,
  visibility: 'private',
  deviceId: null,
  createdAt: MODIFIED,
  updatedAt: MODIFIED,
  mediaType: null,
  metadata: null,
}
const other = createVersion()

describe('isMet (RFC 9110 sections 13.1 and 13.2.2)', () => {
  it.each<[string, Precondition, { readonly there: boolean; readonly none: boolean }]>([
    ['nothing', {}, { there: true, none: true }],
    ['If-Match: *', { ifMatch: '*' }, { there: true, none: false }],
    ['If-Match of the file', { ifMatch: [version] }, { there: true, none: false }],
    ['If-Match of a list', { ifMatch: [other, version] }, { there: true, none: false }],
    ['If-Match of another', { ifMatch: [other] }, { there: false, none: false }],
    ['If-Match of none', { ifMatch: [] }, { there: false, none: false }],
    ['If-Match of the text *', { ifMatch: ['*'] }, { there: false, none: false }],
    ['If-None-Match: *', { ifNoneMatch: '*' }, { there: false, none: true }],
    ['If-None-Match of the file', { ifNoneMatch: [version] }, { there: false, none: true }],
    ['If-None-Match of a list', { ifNoneMatch: [other, version] }, { there: false, none: true }],
    ['If-None-Match of another', { ifNoneMatch: [other] }, { there: true, none: true }],
    ['If-None-Match of none', { ifNoneMatch: [] }, { there: true, none: true }],
    ['both met', { ifMatch: [version], ifNoneMatch: [other] }, { there: true, none: false }],
    ['both of the file', { ifMatch: '*', ifNoneMatch: [version] }, { there: false, none: false }],
    ['both that contradict', { ifMatch: '*', ifNoneMatch: '*' }, { there: false, none: false }],
    ['the very time', { ifUnmodifiedSince: MODIFIED }, { there: true, none: true }],
    ['a later time', { ifUnmodifiedSince: MODIFIED + 9e9 }, { there: true, none: true }],
    ['its whole second', { ifUnmodifiedSince: MODIFIED - 500 }, { there: true, none: true }],
    ['the second before', { ifUnmodifiedSince: MODIFIED - 501 }, { there: false, none: true }],
    ['1970', { ifUnmodifiedSince: 0 }, { there: false, none: true }],
    [
      'an old time beside If-Match, which alone counts',
      { ifMatch: [version], ifUnmodifiedSince: 0 },
      { there: true, none: false },
    ],
    [
      'a late time beside If-Match, which alone counts',
      { ifMatch: [other], ifUnmodifiedSince: MODIFIED },
      { there: false, none: false },
    ],
    [
      'an old time beside If-None-Match',
      { ifNoneMatch: [other], ifUnmodifiedSince: 0 },
      { there: false, none: true },
    ],
    [
      'a late time beside If-None-Match: *',
      { ifNoneMatch: '*', ifUnmodifiedSince: MODIFIED },
      { there: false, none: true },
    ],
  ])('%s', (_, precondition, { there, none }) => {
    expect(isMet(precondition, file)).toBe(there)
    expect(isMet(precondition, undefined)).toBe(none)
  })
})

describe('preconditionFailed', () => {
  it('says so, and nothing of the file', () => {
    expect(preconditionFailed()).toMatchObject({ code: 'precondition_failed', facts: {} })
  })
})

describe('includesEntityTag', () => {
  it('is true of any tag with *, else byte by byte', () => {
    expect(includesEntityTag('*', 'a')).toBe(true)
    expect(includesEntityTag(['b', 'a'], 'a')).toBe(true)
    expect(includesEntityTag(['A', 'aa', '*'], 'a')).toBe(false)
    expect(includesEntityTag([], 'a')).toBe(false)
  })
})
