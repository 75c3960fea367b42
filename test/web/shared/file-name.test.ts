import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { isFileName } from '../../../src/core/files/file-name.ts'
import { faultOf, isSegment } from '../../../web/shared/file-name.ts'

it.each([
  ['a', undefined],
  ['a/b', undefined],
  ['a/b/', undefined],
  ['', 'invalid_file_name'],
  ['/', 'invalid_file_name'],
  ['/a', 'invalid_file_name'],
  ['a//b', 'invalid_file_name'],
  ['a/..', 'invalid_file_name'],
  ['./a', 'invalid_file_name'],
  ['a\\b', 'invalid_file_name'],
  ['a\u0007', 'invalid_file_name'],
  ['ä'.repeat(127), undefined],
  ['ä'.repeat(128), 'name_too_long'],
  ['ä/'.repeat(341), undefined],
  ['ä/'.repeat(342), 'name_too_long'],
])('what is wrong with the file name %j: %j', (name, fault) => {
  expect(faultOf(name)).toBe(fault)
})

it('the page accepts the names that the service accepts', () => {
  const part = fc.constantFrom(
    'a',
    '/',
    '.',
    '\\',
    '\u0000',
    '\u007f',
    'ä'.repeat(127),
    'a'.repeat(200),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const name = parts.join('')
      expect(faultOf(name) === undefined).toBe(isFileName(name))
    }),
  )
})

it.each([
  ['a', true],
  ['a/b', false],
  ['a/', false],
  ['..', false],
  ['', false],
  ['a'.repeat(256), false],
])('%j is the name of a folder in another: %j', (text, isOne) => {
  expect(isSegment(text)).toBe(isOne)
})
