import { describe, expect, it } from 'vitest'
import {
  childOf,
  folderOf,
  labelOf,
  nameIn,
  typedName,
  wayTo,
} from '../../../../web/user/folders/folder.ts'

describe('a folder in names', () => {
  it.each([
    ['', 'a.txt', undefined],
    ['', 'trip›a.txt', 'trip›'],
    ['trip›', 'trip›a.txt', undefined],
    ['trip›', 'trip›day 1›a.txt', 'trip›day 1›'],
    // A name can end with the separator, or begin with it.
    ['trip›', 'trip›', undefined],
    ['', '›a', '›'],
  ])('the folder %j holds %j in %j', (folder, name, child) => {
    expect(childOf(folder, name)).toBe(child)
  })

  it('is left out of the names in it, and has a label in every case', () => {
    expect(nameIn('trip›', 'trip›day 1›a.txt')).toBe('day 1›a.txt')
    expect(nameIn('trip›', 'trip›')).toBe('trip›')
    expect(labelOf('trip›day 1›')).toBe('day 1')
    expect(labelOf('trip››')).toBe('›')
  })

  it('has a way to it, from the folder that a token is limited to', () => {
    expect(wayTo('a›b›c›', '')).toEqual(['a›', 'a›b›', 'a›b›c›'])
    expect(wayTo('a›b›c›', 'a›')).toEqual(['a›b›', 'a›b›c›'])
    expect(wayTo('', '')).toEqual([])
    expect(folderOf('a›b›c.txt')).toBe('a›b›')
    expect(typedName('a/b/c.txt')).toBe('a›b›c.txt')
  })
})
