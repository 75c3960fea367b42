import { expect, it } from 'vitest'
import { createFiles } from '../../../../client/src/files/files.ts'
import { createHttp } from '../../../../client/src/http/http.ts'
import { createFileList } from '../../../../web/user/files/file-list.ts'
import { createSelection } from '../../../../web/user/selection/selection.ts'
import { fileNamed } from './file.ts'

/** As many as a list reads before it leaves the rest for later. */
const MANY = Array.from({ length: 2_000 }, (_, at) => `z${10_000 + at}`)

/** A list that has read the first of these pages, and a selection of its files. */
async function open(pages: readonly (readonly string[])[], { isWhole = true } = {}) {
  let asked = 0
  const answer: typeof fetch = () => {
    const names = pages[asked] ?? []
    asked += 1
    const next_cursor = isWhole ? null : String(asked)
    const files = [...names, ...(isWhole ? [] : MANY)].map(fileNamed)
    return Promise.resolve(Response.json({ files, next_cursor }))
  }
  const files = createFiles(createHttp({ url: 'http://service', fetch: answer }))
  const list = createFileList(files, {
    may: () => true,
    owns: ({ user_id: owner }) => owner === 'alice',
    narrow: (prefix) => prefix,
  })
  const selection = createSelection(list)
  await list.reload()
  const names = () => selection.files.value.map(({ name }) => name).toSorted()
  return { list, selection, names }
}

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f']

it('a range takes the place of the one before it, and leaves what was selected before both', async () => {
  const { selection, names } = await open([LETTERS])
  selection.toggle(fileNamed('a'))
  selection.toggle(fileNamed('c'))
  selection.extend(fileNamed('e'))
  expect(names()).toEqual(['a', 'c', 'd', 'e'])
  selection.extend(fileNamed('b'))
  expect(names()).toEqual(['a', 'b', 'c'])
})

it('a range begins at the file that keys start from, unless it goes on from its end', async () => {
  const { selection, names } = await open([LETTERS])
  selection.extend(fileNamed('c'), fileNamed('b'))
  selection.extend(fileNamed('d'), fileNamed('c'))
  expect(names()).toEqual(['b', 'c', 'd'])
  selection.extend(fileNamed('c'), fileNamed('d'))
  expect(names()).toEqual(['b', 'c'])
  selection.extend(fileNamed('f'), fileNamed('e'))
  expect(names()).toEqual(['b', 'c', 'e', 'f'])
})

it('a selection outlives another order, of which the first files are others', async () => {
  const { list, selection, names } = await open([LETTERS, ['x', 'y']], { isWhole: false })
  selection.toggle(fileNamed('a'))
  await list.reload()
  expect(list.files.value).toHaveLength(2_002)
  expect(names()).toEqual(['a'])
})

it('a file that is gone leaves it, be it listed or not, and no range brings it back', async () => {
  const { list, selection, names } = await open([LETTERS, ['x', 'y', 'z']], { isWhole: false })
  for (const name of ['a', 'b']) selection.toggle(fileNamed(name))
  await list.reload()
  list.drop('a')
  expect(names()).toEqual(['b'])
  selection.toggle(fileNamed('x'))
  list.drop('b')
  selection.extend(fileNamed('y'))
  expect(names()).toEqual(['x', 'y'])
})

it('a file that a complete list lacks leaves it, and a search ends it', async () => {
  const { list, selection, names } = await open([LETTERS, ['b', 'c'], ['b']])
  for (const name of ['a', 'b']) selection.toggle(fileNamed(name))
  await list.reload()
  expect(names()).toEqual(['b'])
  await list.seek('b')
  expect(names()).toEqual([])
})

it('a file that is inside a shown folder now leaves it, also in a list of which not all is read', async () => {
  const { list, selection, names } = await open([['trip›a', 'z'], ['z']], { isWhole: false })
  list.hasFolders.value = false
  await list.reload()
  for (const name of ['trip›a', 'z']) selection.toggle(fileNamed(name))
  list.hasFolders.value = true
  await list.reload()
  expect(names()).toEqual(['z'])
})

it('takes files as the list has them, and none that a complete list lacks', async () => {
  const { list, selection } = await open([LETTERS])
  list.put({ ...fileNamed('a'), etag: 'newer' })
  selection.add(['a', 'b', 'gone'].map(fileNamed))
  expect(selection.files.value).toMatchObject([{ name: 'a', etag: 'newer' }, { name: 'b' }])
})

it('takes no file of another user, even if not all of the list is read', async () => {
  const { selection, names } = await open([LETTERS], { isWhole: false })
  selection.add([{ ...fileNamed('x'), user_id: 'bob' }, fileNamed('y')])
  expect(names()).toEqual(['y'])
})

it('has files as they have become', async () => {
  const { list, selection } = await open([LETTERS])
  selection.toggle(fileNamed('a'))
  list.put({ ...fileNamed('a'), etag: 'newer' })
  expect(selection.files.value).toMatchObject([{ name: 'a', etag: 'newer' }])
})
