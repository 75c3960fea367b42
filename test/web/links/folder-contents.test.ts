import { expect, it } from 'vitest'
import { folderContents, wayTo } from '../../../web/links/folder-contents.ts'

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

it('what follows a prefix that ends before a slash is in a folder without a name', () => {
  const [file] = [{ name: '/2026/a', size: 1 }]
  const { folders } = folderContents([file], '')
  expect(folders).toEqual([{ path: '/', label: '/', count: 1, bytes: 1 }])
  expect(folderContents([file], '/').folders[0]?.label).toBe('2026')
  expect(wayTo('/2026/')).toEqual([
    { path: '/', label: '/' },
    { path: '/2026/', label: '2026' },
  ])
})

it('the way to a folder has each around it', () => {
  expect(wayTo('')).toEqual([])
  expect(wayTo('trip/Day 2/')).toEqual([
    { path: 'trip/', label: 'trip' },
    { path: 'trip/Day 2/', label: 'Day 2' },
  ])
})
