import { describe, expect, it } from 'vitest'
import type { Change, ChangeEvent } from '../../src/core/changes/change.ts'
import { feedFaults, type Followed } from './replay-changes.ts'

const SIZE = 50

function file(name: string, version: string) {
  return { name, version, size: SIZE, sha256: version, visibility: 'private' } as const
}

/** Two files are left: `c` and `d`. */
const EVENTS = [
  { type: 'file.created', file: file('a', 'v1') },
  { type: 'file.updated', file: { ...file('a', 'v1'), visibility: 'public' } },
  { type: 'file.replaced', file: file('a', 'v2') },
  { type: 'file.created', file: file('b', 'v3') },
  { type: 'capacity.critical', capacity: 2 * SIZE, used: 2 * SIZE },
  { type: 'file.renamed', file: file('c', 'v2'), previousName: 'a' },
  { type: 'file.deleted', file: file('b', 'v3') },
  { type: 'capacity.normal', capacity: 2 * SIZE, used: SIZE },
  { type: 'file.created', file: file('d', 'v4') },
  { type: 'capacity.critical', capacity: 2 * SIZE, used: 2 * SIZE },
] as unknown as readonly ChangeEvent[]

const FILES = [file('c', 'v2'), file('d', 'v4')] as unknown as Followed['files']

function numbered(events: readonly ChangeEvent[]): readonly Change[] {
  return events.map((event, index) => ({ ...event, sequence: index + 1, at: 1000 }))
}

function faultsOf(changes: readonly Change[]): readonly string[] {
  const usage = { capacity: 2 * SIZE, used: 2 * SIZE, reserved: 0, fileCount: 2 }
  return feedFaults({ changes, files: FILES, usage })
}

function swapped<T>(all: readonly T[], at: number): readonly T[] {
  return [...all.slice(0, at - 1), ...all.slice(at - 1, at + 1).toReversed(), ...all.slice(at + 1)]
}

const CHANGES = numbered(EVENTS)
const POSITIONS = [...EVENTS.keys()]

/** Those whose loss or repetition shows in the copy; the visibility is not compared. */
const WITH_EFFECT = POSITIONS.filter((at) => EVENTS[at]?.type !== 'file.updated')

describe('following a feed', () => {
  it('finds nothing wrong with one that leads to the files', () => {
    expect(faultsOf(CHANGES)).toEqual([])
  })

  it.each(POSITIONS)('sees that change %i is missing', (at) => {
    expect(faultsOf(CHANGES.toSpliced(at, 1))).not.toEqual([])
  })

  it.each(WITH_EFFECT)('sees that change %i is missing where no sequence is', (at) => {
    expect(faultsOf(numbered(EVENTS.toSpliced(at, 1)))).not.toEqual([])
  })

  it.each(POSITIONS)('sees that change %i is told twice', (at) => {
    expect(faultsOf(CHANGES.flatMap((each, i) => (i === at ? [each, each] : each)))).not.toEqual([])
  })

  it.each(WITH_EFFECT)('sees that change %i is recorded twice', (at) => {
    const events = EVENTS.flatMap((each, i) => (i === at ? [each, each] : each))
    expect(faultsOf(numbered(events))).not.toEqual([])
  })

  it.each(POSITIONS.slice(1))('sees that change %i is swapped with the one before', (at) => {
    expect(faultsOf(swapped(CHANGES, at))).not.toEqual([])
  })

  // The others are of two files, whose order no copy shows.
  it.each([1, 2, 4, 7, 8, 9])('sees that change %i is recorded before the one before', (at) => {
    expect(faultsOf(numbered(swapped(EVENTS, at)))).not.toEqual([])
  })

  it.each([
    ['file.created', file('e', 'v5')],
    ['file.created', file('c', 'v5')],
    ['file.replaced', file('c', 'v5')],
    ['file.replaced', file('e', 'v5')],
    ['file.deleted', file('c', 'v2')],
    ['file.deleted', file('e', 'v2')],
    ['file.updated', file('e', 'v5')],
    ['file.updated', file('c', 'v1')],
  ])('sees an invented %s', (type, changed) => {
    const invented = { type, file: changed } as unknown as ChangeEvent
    expect(faultsOf(numbered([...EVENTS, invented]))).not.toEqual([])
  })

  it.each([
    ['c', 'd'],
    ['c', 'e'],
    ['e', 'f'],
  ])('sees an invented rename of %s to %s', (from, to) => {
    const invented = { type: 'file.renamed', file: file(to, 'v2'), previousName: from }
    const changes = numbered([...EVENTS, invented as unknown as ChangeEvent])
    expect(faultsOf(changes)).not.toEqual([])
  })

  it.each([
    { type: 'capacity.critical', capacity: 2 * SIZE, used: 2 * SIZE },
    { type: 'capacity.exceeded', capacity: 2 * SIZE, used: 2 * SIZE },
    { type: 'capacity.normal', capacity: 2 * SIZE, used: SIZE },
  ] as const)('sees an invented $type of $used bytes', (invented) => {
    expect(faultsOf(numbered([...EVENTS, invented]))).not.toEqual([])
  })
})
