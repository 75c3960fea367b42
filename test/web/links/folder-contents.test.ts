import { expect, it } from 'vitest'
import { folderContents } from '../../../web/links/folder-contents.ts'

const FILES = [
  'b.txt',
  'a10.txt',
  'a9.txt',
  'empty/',
  'trip/',
  'trip/Day 2/x',
  'trip/Day 2/y',
  'trip/Day 10/z',
  'trip/plan',
].map((name, at) => ({ name, size: name.endsWith('/') ? 0 : 10 + at }))

it('a folder has the folders and files that are directly in it, sorted as people do', () => {
  const { folders, files } = folderContents(FILES, '')
  expect(folders).toEqual([
    { path: 'empty/', label: 'empty', count: 0, bytes: 0 },
    { path: 'trip/', label: 'trip', count: 4, bytes: 15 + 16 + 17 + 18 },
  ])
  expect(files.map(({ label }) => label)).toEqual(['a9.txt', 'a10.txt', 'b.txt'])
})

it('a folder below has the names within it, and not its own marker', () => {
  const { folders, files } = folderContents(FILES, 'trip/')
  expect(folders.map(({ path, label, count }) => [path, label, count])).toEqual([
    ['trip/Day 2/', 'Day 2', 2],
    ['trip/Day 10/', 'Day 10', 1],
  ])
  expect(files).toEqual([{ label: 'plan', file: FILES.at(-1) }])
  expect(folderContents(FILES, 'empty/')).toEqual({ folders: [], files: [] })
})
