import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { fileNamed } from './file.ts'
import {
  commonFolder,
  commonPrefix,
  isWholeWord,
  planMoves,
  takenNames,
} from '../../../../web/user/selection/moves.ts'

const named = (...names: readonly string[]) => names.map((name) => fileNamed(name))

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

it('the common folder ends where a folder does', () => {
  expect(commonFolder(['trip›day 1›a', 'trip›day 2›b'])).toBe('trip›')
  expect(commonFolder(['trip.jpg', 'trip.png'])).toBe('')
})

it.each([
  ['trip - ', true],
  ['Trip›', true],
  ['IMG_', true],
  ['B', false],
  ['Photo 2', false],
  ['', false],
])('%j ends where a word does: %j', (prefix, isWhole) => {
  expect(isWholeWord(prefix)).toBe(isWhole)
})

it('names that begin with the text get another beginning, no others do', () => {
  const moves = planMoves(named('a-1', 'b-1'), { from: 'a-', to: 'c - ' })
  expect(moves.map(({ file, name }) => [file.name, name])).toEqual([['a-1', 'c - 1']])
  expect(planMoves(named('a'), { from: 'a', to: 'a' })).toEqual([])
})

it('each name is free before a file gets it, also if another selected file has it at first', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3 })
  const files = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 }))
  fc.assert(
    fc.property(files, part, part, (names, from, to) => {
      const all = named(...names)
      const moves = planMoves(all, { from, to })
      const taken = takenNames(moves, all)
      const present = new Set(names)
      for (const { file, name } of moves) {
        present.delete(file.name)
        expect(present.has(name)).toBe(taken.has(name))
        if (!taken.has(name)) present.add(name)
      }
    }),
  )
})

it('names of other files are taken, those of files that move are not', () => {
  const files = named('a', 'xa', 'b', 'xb')
  const moves = planMoves(files.slice(0, 3), { from: '', to: 'x' })
  expect([...takenNames(moves, files)]).toEqual(['xb'])
})
