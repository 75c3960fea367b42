import { expect, it } from 'vitest'
import { isFileName } from '../../../../web/user/files/file-name.ts'

it.each([
  ['a', true],
  ['', false],
  ['..', false],
  ['a/b', false],
  ['a\\b', false],
  ['a\u0007', false],
  ['ä'.repeat(127), true],
  ['ä'.repeat(128), false],
])('whether %j is a file name: %j', (name, isName) => {
  expect(isFileName(name)).toBe(isName)
})
