import { describe, expect, it } from 'vitest'
import { countOf } from '../../../../web/user/folders/files-of.ts'
import { fileNamed } from '../selection/file.ts'

describe('countOf', () => {
  it.each([
    { names: [], count: 0 },
    { names: ['a', 'b/c'], count: 2 },
    { names: ['a', 'empty/'], count: 2 },
    { names: ['trip/', 'trip/a'], count: 1 },
    { names: ['trip/', 'trip/day 1/a', 'trip/empty/'], count: 2 },
    { names: ['old/', 'old/empty/'], count: 1 },
    { names: ['trip/', 'trip 2/a'], count: 2 },
  ])('counts $names as $count', ({ names, count }) => {
    expect(countOf(names.map(fileNamed))).toBe(count)
  })
})
