import { describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import {
  parseIfMatch,
  parseIfNoneMatch,
  parseStrongEntityTag,
  selectRange,
} from '../../../src/http/headers/preconditions.ts'
import { parseReprDigest, wantsReprDigest } from '../../../src/http/headers/repr-digest.ts'

const SHA256 = `sha-256=:${Buffer.alloc(32).toString('base64')}:`

/** Each answers `true` for a header of up to 1,024 characters, which ends with spaces. */
const READERS: Readonly<Record<string, readonly [start: string, (header: string) => boolean]>> = {
  'If-Match': ['"a"', (text) => parseIfMatch(text)?.[0] === 'a'],
  'If-None-Match': ['"a"', (text) => parseIfNoneMatch(text)?.[0] === 'a'],
  'If-Range': ['"a"', (text) => parseStrongEntityTag(text) === 'a'],
  Range: ['bytes=0-1', (text) => selectRange(text, 10) !== 'whole'],
  'Repr-Digest': [SHA256, (text) => parseReprDigest(text) !== undefined],
  'Want-Repr-Digest': ['sha-256=1', wantsReprDigest],
}

describe('a header of more than 1,024 characters', () => {
  it.each(Object.entries(READERS))('is malformed: %s', (_, [start, read]) => {
    expect(read(start.padEnd(1024))).toBe(true)
    expect(outcomeOf(() => read(start.padEnd(1025)))).toMatch(/^(false|invalid_parameter)$/)
  })
})

function outcomeOf(read: () => boolean): string {
  try {
    return String(read())
  } catch (error) {
    return isAppError(error) ? error.code : String(error)
  }
}
