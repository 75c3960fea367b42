import { expect, it } from 'vitest'
import type { Entry } from '../../../../web/user/files/shown-entries.ts'
import { isWithin, type Move, nameAfter, planMoves } from '../../../../web/user/moves/move.ts'
import { assertPossible } from '../../../../web/user/moves/refusals.ts'
import { Refusal } from '../../../../web/shared/refusal.ts'
import { fileNamed } from '../selection/file.ts'

const namesOf = (moves: readonly Move[]) =>
  moves.map(({ entry, to }) => [typeof entry === 'string' ? entry : entry.name, to])

it('files and folders keep their own names in the folder that they are moved to', () => {
  const entries: readonly Entry[] = ['Trip/2026/', fileNamed('Trip/a.jpg'), fileNamed('b.jpg')]
  expect(namesOf(planMoves(entries, 'Photos/'))).toEqual([
    ['Trip/2026/', 'Photos/2026/'],
    ['Trip/a.jpg', 'Photos/a.jpg'],
    ['b.jpg', 'Photos/b.jpg'],
  ])
})

it('what is in the folder already is not moved', () => {
  const entries: readonly Entry[] = ['Trip/2026/', fileNamed('Trip/a.jpg'), fileNamed('b.jpg')]
  expect(namesOf(planMoves(entries, 'Trip/'))).toEqual([['b.jpg', 'Trip/b.jpg']])
  expect(planMoves(['Trip/'], '')).toEqual([])
})

it('all that is in a folder is moved with it, its marker too', () => {
  const move = { entry: 'Trip/', to: 'Photos/Trip/' }
  const names = ['Trip/', 'Trip/a', 'Trip/Rome/b'].map((name) => nameAfter(move, name))
  expect(names).toEqual(['Photos/Trip/', 'Photos/Trip/a', 'Photos/Trip/Rome/b'])
  expect(nameAfter({ entry: fileNamed('a/b'), to: 'c' }, 'a/b')).toBe('c')
})

const EVERYWHERE = { within: (name: string) => name, prefix: () => '' }

it.each([
  ['into itself', [{ entry: 'a/', to: 'a/a/' }]],
  ['deeper into itself', [{ entry: 'a/', to: 'a/b/a/' }]],
  ['to a name that none can have', [{ entry: 'a/', to: '../' }]],
  ['to a name that is too long', [{ entry: fileNamed('a'), to: 'a'.repeat(256) }]],
  [
    'where two would have one name',
    [
      { entry: 'x/a/', to: 'y/a/' },
      { entry: fileNamed('z/a'), to: 'y/a' },
    ],
  ],
] as const)('nothing is moved %s', (_, moves) => {
  expect(() => assertPossible(moves, EVERYWHERE)).toThrow(Refusal)
})

it('a name that is too long with its folders is said to be, with what is allowed', () => {
  const moves = [{ entry: fileNamed('a'), to: `${'deep/'.repeat(205)}a` }]
  expect(() => assertPossible(moves, EVERYWHERE)).toThrow('1,024')
})

it('nothing is moved to where a token may not', () => {
  const narrow = { within: (name: string) => `Photos/${name}`, prefix: () => 'Photos/' }
  const moves = [{ entry: fileNamed('Photos/a'), to: 'a' }]
  expect(() => assertPossible(moves, narrow)).toThrow('“Photos/”')
  expect(() => assertPossible(moves, EVERYWHERE)).not.toThrow()
  // Beside itself, not in itself.
  expect(() => assertPossible([{ entry: 'a/', to: 'ab/' }], EVERYWHERE)).not.toThrow()
})

it('a folder is within itself and those around it, also by the name of no file', () => {
  expect(isWithin('a/b/', ['a/'])).toBe(true)
  expect(isWithin('a/', ['a/'])).toBe(true)
  expect(isWithin('ab/', ['a/', fileNamed('ab')])).toBe(false)
})
