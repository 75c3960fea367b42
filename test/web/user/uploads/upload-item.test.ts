import { describe, expect, it } from 'vitest'
import { nextName } from '../../../../web/user/uploads/upload-item.ts'

describe('the next name', () => {
  it.each([
    ['photo.jpg', 'photo (2).jpg'],
    ['photo (2).jpg', 'photo (3).jpg'],
    ['photo (9).tar.gz', 'photo (9).tar (2).gz'],
    ['.hidden', '.hidden (2)'],
    ['v1.2/notes', 'v1.2/notes (2)'],
    ['photo (999999998).jpg', 'photo (999999999).jpg'],
    ['photo (1000000000).jpg', 'photo (1000000000) (2).jpg'],
    ['photo (9007199254740993).jpg', 'photo (9007199254740993) (2).jpg'],
  ])('the next name after %s is %s', (name, next) => {
    expect(nextName(name)).toBe(next)
  })
})
