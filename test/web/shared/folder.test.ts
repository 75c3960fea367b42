import { describe, expect, it } from 'vitest'
import {
  childOf,
  folderOf,
  foldersAround,
  isMarker,
  labelOf,
  nameIn,
  parentOf,
  plainName,
} from '../../../web/shared/folder.ts'

describe('a folder in names', () => {
  it.each([
    ['', 'a.txt', undefined],
    ['', 'trip/a.txt', 'trip/'],
    ['trip/', 'trip/a.txt', undefined],
    ['trip/', 'trip/day 1/a.txt', 'trip/day 1/'],
    // Markers.
    ['', 'trip/', 'trip/'],
    ['trip/', 'trip/', undefined],
  ])('the folder %j holds %j in %j', (folder, name, child) => {
    expect(childOf(folder, name)).toBe(child)
  })

  it('is left out of the names in it, and has a label', () => {
    expect(nameIn('trip/', 'trip/day 1/a.txt')).toBe('day 1/a.txt')
    expect(labelOf('trip/day 1/')).toBe('day 1')
    expect(labelOf('trip/day 1/a.txt')).toBe('a.txt')
    expect([plainName('trip/'), plainName('trip')]).toEqual(['trip', 'trip'])
    expect([isMarker('trip/'), isMarker('trip/a')]).toEqual([true, false])
  })

  it('is in others, from the folder that a token is limited to', () => {
    expect(foldersAround('a/b/c/')).toEqual(['a/', 'a/b/', 'a/b/c/'])
    expect(foldersAround('a/b/c/d', 'a/')).toEqual(['a/b/', 'a/b/c/'])
    expect(foldersAround('d')).toEqual([])
    expect([folderOf('a/b/c.txt'), folderOf('a/b/')]).toEqual(['a/b/', 'a/b/'])
    expect([parentOf('a/b/c.txt'), parentOf('a/b/'), parentOf('a')]).toEqual(['a/b/', 'a/', ''])
  })
})
