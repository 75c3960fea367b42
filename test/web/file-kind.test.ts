import { expect, it } from 'vitest'
import { kindOf } from '../../web/shared/file-kind.ts'

it.each([
  ['a.PDF', '', 'pdf'],
  ['budget.xlsx', '', 'sheet'],
  ['notes.md', '', 'text'],
  ['main.ts', '', 'code'],
  ['main.ts', 'video/mp2t', 'video'],
  ['photo', 'image/jpeg', 'image'],
  ['data.csv', 'text/csv', 'sheet'],
  ['page', 'text/plain', 'text'],
  ['clip.mp4', 'application/octet-stream', 'video'],
  ['constructor', '', 'document'],
  ['', '', 'document'],
])('%s of the type "%s" is of the kind %s', (name, type, kind) => {
  expect(kindOf(name, type)).toBe(kind)
})
