import { expect, it } from 'vitest'
import { gatheredName } from '../../../web/shared/gathered-file.ts'

it.each([
  ['/Trip/Day 1/dawn.jpg', 'Trip/Day 1/dawn.jpg'],
  ['alone.txt', 'alone.txt'],
  ['/Trip/empty/', 'Trip/empty/'],
  ['/a\\b/c\td/', 'a_b/c_d/'],
])('the name of the gathered path %j is %j', (path, name) => {
  expect(gatheredName(path)).toBe(name)
})
