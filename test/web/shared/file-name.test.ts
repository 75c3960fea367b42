import { expect, it } from 'vitest'
import { faultOf, isFileName } from '../../../web/shared/file-name.ts'

it.each([
  ['a', undefined],
  ['', 'invalid_file_name'],
  ['..', 'invalid_file_name'],
  ['a/b', 'invalid_file_name'],
  ['a\\b', 'invalid_file_name'],
  ['a\u0007', 'invalid_file_name'],
  ['ä'.repeat(127), undefined],
  ['ä'.repeat(128), 'name_too_long'],
])('what is wrong with the file name %j: %j', (name, fault) => {
  expect(faultOf(name)).toBe(fault)
  expect(isFileName(name)).toBe(fault === undefined)
})
