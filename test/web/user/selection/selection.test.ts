import { expect, it } from 'vitest'
import { createFiles } from '../../../../packages/js/src/files/files.ts'
import { createHttp } from '../../../../packages/js/src/http/http.ts'
import { createFileList } from '../../../../web/user/files/file-list.ts'
import { createSelection } from '../../../../web/user/selection/selection.ts'
import { fileNamed } from './file.ts'

/** As many as a list reads before it leaves the rest for later. */
const MANY = Array.from({ length: 2_000 }, (_, at) => `z${10_000 + at}`)

type Answer = readonly string[] | 'refused'

/** A list that has read the first of these pages, and a selection of its files. */
async function open(pages: readonly Answer[], { isWhole = true } = {}) {
  let asked = 0
  const answer: typeof fetch = () => {
    const names = pages[asked] ?? []
    asked += 1
    if (names === 'refused') return Promise.resolve(Response.json({}, { status: 403 }))
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
  const failures: unknown[] = []
  const selection = createSelection(list, (error) => failures.push(error))
  await list.reload()
  const names = () => selection.files.value.map(({ name }) => name).toSorted()
  return { list, selection, names, failures }
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

it('is of whole folders and of the files in none of them, without the marker of the open folder', async () => {
  const inTrip = ['Trip/', 'Trip/a', 'Trip/Rome/b']
  const { list, selection, names } = await open([LETTERS, inTrip, [], inTrip])
  const entries = () =>
    selection.entries.value.map((entry) => (typeof entry === 'string' ? entry : entry.name))
  selection.toggle(fileNamed('a'))
  selection.toggle('Trip/')
  expect(entries()).toEqual(['Trip/', 'a'])
  await expect.poll(names).toEqual(['Trip/', 'Trip/Rome/b', 'Trip/a', 'a'])
  expect(entries()).toEqual(['Trip/', 'a'])
  selection.toggle('Trip/')
  expect(entries()).toEqual(['a'])
  list.folder.value = 'Trip/'
  await list.reload()
  list.put(fileNamed('Trip/a'), fileNamed('Trip/Rome/b'))
  selection.addAll()
  await expect.poll(names).toEqual(['Trip/Rome/b', 'Trip/a'])
  expect(entries()).toEqual(['Trip/Rome/', 'Trip/a'])
  // It is not there any more.
  list.drop('Trip/Rome/b')
  expect(entries()).toEqual(['Trip/a'])
})

it('takes files as the list has them, and none that a complete list lacks', async () => {
  const { list, selection } = await open([LETTERS])
  list.put({ ...fileNamed('a'), etag: 'newer' })
  selection.add(['a', 'b', 'gone'].map(fileNamed))
  expect(selection.files.value).toMatchObject([{ name: 'a', etag: 'newer' }, { name: 'b' }])
})

it('takes files that the list of a device lacks', async () => {
  const { list, selection, names } = await open([['a'], ['a']])
  list.device.value = 'camera-17'
  await list.reload()
  selection.add([fileNamed('a'), fileNamed('b')])
  expect(names()).toEqual(['a', 'b'])
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

it('a folder stands for all files below it, also when the list is read again, until it is left out', async () => {
  const inTrip = ['Trip/a', 'Trip/Rome/b']
  const { list, selection, names } = await open([LETTERS, inTrip, LETTERS])
  selection.toggle(fileNamed('a'))
  selection.toggle('Trip/')
  await expect.poll(names).toEqual(['Trip/Rome/b', 'Trip/a', 'a'])
  expect(selection.has('Trip/')).toBe(true)
  await list.reload()
  expect(names()).toEqual(['Trip/Rome/b', 'Trip/a', 'a'])
  list.drop('Trip/a')
  expect(names()).toEqual(['Trip/Rome/b', 'a'])
  selection.toggle('Trip/')
  expect(names()).toEqual(['a'])
})

it('a folder that is being read is selected no more once it is left out, or the selection ends', async () => {
  const inTrip = ['Trip/a']
  const { list, selection, names } = await open([LETTERS, inTrip, LETTERS, inTrip, LETTERS])
  selection.toggle('Trip/')
  selection.toggle('Trip/')
  await list.reload()
  expect(names()).toEqual([])
  selection.toggle('Trip/')
  selection.clear()
  await list.reload()
  expect(names()).toEqual([])
})

it('says that a folder could not be read', async () => {
  const { selection, failures } = await open([LETTERS, 'refused'])
  selection.toggle('Trip/')
  await expect.poll(() => failures).toHaveLength(1)
  expect(selection.has('Trip/')).toBe(false)
})

it('says that files of folders are being read, until they are or the folder is left out', async () => {
  const { selection } = await open([LETTERS, ['Trip/a'], ['Trip/a'], 'refused'])
  selection.toggle('Trip/')
  expect(selection.isReading.value).toBe(true)
  await expect.poll(() => selection.isReading.value).toBe(false)
  selection.toggle('Trip/')
  selection.toggle('Trip/')
  selection.toggle('Trip/')
  expect(selection.isReading.value).toBe(false)
  selection.toggle('Trip/')
  await expect.poll(() => selection.isReading.value).toBe(false)
})
