import { expect, it } from 'vitest'
import { commonPrefix, isWholeWord } from '../../../../web/user/selection/common-prefix.ts'

it.each([
  [[], ''],
  [['a.txt'], 'a.txt'],
  [['trip - a', 'trip - b'], 'trip - '],
  [['a', 'b'], ''],
  [['a', 'ab'], 'a'],
  // Both begin with the same half of a character.
  [['x\u{1f600}', 'x\u{1f601}'], 'x'],
])('what %j begin with is %j', (names, prefix) => {
  expect(commonPrefix(names)).toBe(prefix)
})

it.each([
  ['trip - ', true],
  ['Trip/', true],
  ['IMG_', true],
  ['B', false],
  ['Photo 2', false],
  ['', false],
])('%j ends where a word does: %j', (prefix, isWhole) => {
  expect(isWholeWord(prefix)).toBe(isWhole)
})
