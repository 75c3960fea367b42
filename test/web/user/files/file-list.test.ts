import { expect, it, onTestFinished, vi } from 'vitest'
import { createFiles } from '../../../../packages/js/src/files/files.ts'
import { createHttp } from '../../../../packages/js/src/http/http.ts'
import type { FileEntry } from '../../../../web/shared/model.ts'
import {
  createFileList,
  type FileList,
  type ListPermissions,
} from '../../../../web/user/files/file-list.ts'

const FILE: FileEntry = {
  name: 'zz',
  user_id: 'alice',
  size: 1,
  etag: 'e',
  visibility: 'private',
  created_at: '2026-11-24T00:00:00Z',
  updated_at: '2026-11-24T00:00:00Z',
}

const PERMISSIONS: ListPermissions = {
  may: () => true,
  owns: ({ user_id: owner }) => owner === 'alice',
  narrow: (prefix) => prefix,
}

/** A list whose requests are answered so, and the queries that it sends. */
function listWith(answer: (query: URLSearchParams, turn: number) => object | Promise<object>) {
  const asked: URLSearchParams[] = []
  const fetched: typeof fetch = async (url) => {
    asked.push((url as URL).searchParams)
    return Response.json(await answer((url as URL).searchParams, asked.length - 1))
  }
  const files = createFiles(createHttp({ url: 'http://service', fetch: fetched }))
  const list = createFileList(files, PERMISSIONS)
  return { list, asked }
}

/** A list of files with these names, the first the smallest, as the service lists them. */
function listOf(names: readonly string[]) {
  let left = names
  const all = names.map((name, size): FileEntry => ({ ...FILE, name, size }))
  const remove = (name: string): void => {
    left = left.filter((other) => other !== name)
  }
  return { remove, ...listWith(answer) }

  function answer(query: URLSearchParams): object {
    const { prefix = '', contains = '', delimiter, order = 'name' } = Object.fromEntries(query)
    const found = all.filter(({ name }) => left.includes(name) && name.startsWith(prefix))
    const files = found.filter(({ name }) => name.toLowerCase().includes(contains.toLowerCase()))
    if (order.endsWith('name'))
      files.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    if (order.startsWith('-')) files.reverse()
    const folderOf = ({ name }: FileEntry): string | undefined => {
      const at = delimiter === undefined ? -1 : name.indexOf(delimiter, prefix.length)
      return at === -1 ? undefined : name.slice(0, at + 1)
    }
    const entries = [...new Set(files.map((file) => folderOf(file) ?? file))]
    const from = Number(query.get('cursor') ?? 0)
    const to = from + Number(query.get('limit'))
    const page = entries.slice(from, to)
    return {
      files: page.filter((entry) => typeof entry !== 'string'),
      prefixes: page.filter((entry) => typeof entry === 'string'),
      next_cursor: to < entries.length ? String(to) : null,
    }
  }
}

function namesOf({ entries }: FileList): readonly string[] {
  return entries.value.map((entry) => (typeof entry === 'string' ? entry : entry.name))
}

const MANY = Array.from({ length: 2_600 }, (_, at) => `file ${at}`)
const MANY_AS_SERVICE = MANY.toSorted()

it('a list reads on after empty pages, until one has files', async () => {
  const pages = [
    { files: [], next_cursor: 'one' },
    { files: [], next_cursor: 'two' },
    { files: [FILE], next_cursor: 'three' },
    { files: [], next_cursor: null },
  ]
  const { list, asked } = listWith((_, turn) => pages[turn] ?? {})
  const read: string[] = []
  list.entries.subscribe((entries) => void read.push(`${asked.length}: ${entries.length}`))
  await list.reload()
  // What is found is shown at once.
  expect(read).toContain('3: 1')
  expect(asked.map((query) => query.get('cursor'))).toEqual([null, 'one', 'two', 'three'])
  expect(list.files.value).toEqual([FILE])
  expect(list.hasMore.value).toBe(false)
})

it('a list sorts as people do what it can read at once, without asking again', async () => {
  const { list, asked } = listOf([...MANY.slice(0, 1_200), 'b', 'A', 'a 10', 'a 9', 'ä', 'Z'])
  await list.reload()
  expect(asked).toHaveLength(3)
  const names = namesOf(list)
  expect(names.slice(0, 7)).toEqual(['A', 'ä', 'a 9', 'a 10', 'b', 'file 0', 'file 1'])
  expect(names.at(-1)).toBe('Z')
  await list.sort('-size')
  expect(namesOf(list).slice(0, 3)).toEqual(['Z', 'ä', 'a 9'])
  list.put({ ...FILE, name: 'new', size: 1_204.5 })
  expect(namesOf(list).slice(0, 3)).toEqual(['Z', 'new', 'ä'])
  expect(asked).toHaveLength(3)
})

it('a list of a device asks for its files alone, and takes in no others', async () => {
  const { list, asked } = listOf(['a', 'b'])
  list.device.value = 'camera-17'
  await list.reload()
  expect(asked.at(-1)?.get('device_id')).toBe('camera-17')
  expect(asked.at(-1)?.get('delimiter')).toBeNull()
  list.put({ ...FILE, name: 'c', device_id: 'camera-17' }, { ...FILE, name: 'd' })
  list.put({ ...FILE, name: 'e', device_id: null }, { ...FILE, name: 'f', device_id: 'bell-1' })
  expect(namesOf(list)).toEqual(['a', 'b', 'c'])
})

it('a longer list is in the order of the service, and goes to its end and back in one request each', async () => {
  const { list, asked } = listOf(MANY)
  await list.reload()
  expect(namesOf(list)).toEqual(MANY_AS_SERVICE.slice(0, 2_000))
  expect(list.hasMore.value).toBe(true)
  await list.jump('end')
  expect(asked).toHaveLength(5)
  expect(namesOf(list)).toEqual(MANY_AS_SERVICE.slice(-500))
  // It belongs to a page that is not read yet.
  list.put({ ...FILE, name: 'a' })
  list.put({ ...FILE, name: 'z' })
  expect(namesOf(list)).toEqual([...MANY_AS_SERVICE.slice(-500), 'z'])
  await list.loadMore()
  expect(list.putBefore.value).toBe(500)
  expect(namesOf(list)).toEqual([...MANY_AS_SERVICE.slice(-1_000), 'z'])
  await list.jump('start')
  expect(asked).toHaveLength(7)
  expect(namesOf(list)).toEqual(MANY_AS_SERVICE.slice(0, 500))
})

it('a list reads all that is left, from whichever end it was read', async () => {
  const { list } = listOf(MANY)
  await list.reload()
  await list.jump('end')
  await list.loadAll()
  expect(namesOf(list)).toEqual(MANY_AS_SERVICE)
  expect(list.hasMore.value).toBe(false)
})

it('a list reads no further when it has been cleared', async () => {
  const { list, asked } = listOf(MANY)
  const reload = list.reload()
  list.clear()
  await reload
  expect(asked).toHaveLength(1)
  expect(namesOf(list)).toEqual([])
})

it('folders come first in every order, unless there is too much to be sorted here', async () => {
  const { list } = listOf(['z/1', 'z/2', 'b', 'a'])
  await list.reload()
  expect(namesOf(list)).toEqual(['z/', 'a', 'b'])
  await list.sort('-size')
  expect(namesOf(list)).toEqual(['z/', 'a', 'b'])
  const { list: large } = listOf([...MANY, 'a/1', 'z/1'])
  await large.reload()
  expect(namesOf(large).slice(0, 2)).toEqual(['a/', 'file 0'])
  expect(large.view.value.isFlat).toBe(false)
  await large.sort('-size')
  expect(large.view.value.isFlat).toBe(true)
  expect(namesOf(large).slice(0, 3)).toEqual(['z/1', 'a/1', 'file 2599'])
  await large.sort('name')
  expect(namesOf(large)[0]).toBe('a/')
})

it('a folder appears with its first file, and goes with the last one', async () => {
  const { list, asked, remove } = listOf(['a', 'trip/1', 'trip/2'])
  await list.reload()
  list.put({ ...FILE, name: 'new/1' })
  list.put({ ...FILE, name: 'new/sub/2' })
  expect(namesOf(list)).toEqual(['new/', 'trip/', 'a'])
  remove('trip/1')
  list.drop('trip/1')
  const doubts = () => asked.filter((query) => query.get('prefix') === 'trip/').length
  await expect.poll(doubts).toBe(1)
  expect(namesOf(list)).toContain('trip/')
  remove('trip/2')
  // Changes that come together are asked about once.
  for (const name of ['trip/2', 'trip/3']) list.drop(name)
  await expect.poll(() => namesOf(list)).toEqual(['new/', 'a'])
  expect(doubts()).toBe(2)
})

it('a folder stays when a file comes while the service is asked whether it was the last', async () => {
  const isPut = Promise.withResolvers<void>()
  const { list, asked } = listWith(async (query) => {
    const prefixes = ['trip/', 'zoo/']
    if (query.get('prefix') === null) return { files: [], prefixes, next_cursor: null }
    await isPut.promise
    return { files: [], next_cursor: null }
  })
  await list.reload()
  for (const name of ['trip/1', 'zoo/1']) list.drop(name)
  await expect.poll(() => asked.length).toBe(2)
  list.put({ ...FILE, name: 'trip/2' })
  isPut.resolve()
  // Asked for after the other one.
  await expect.poll(() => namesOf(list)).not.toContain('zoo/')
  expect(namesOf(list)).toEqual(['trip/'])
})

it('a folder goes when its last file goes while the service is asked about an earlier one', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const isDropped = Promise.withResolvers<void>()
  let left = [{ ...FILE, name: 'trip/2' }]
  const { list, asked } = listWith(async (query) => {
    if (query.get('prefix') === null) return { files: [], prefixes: ['trip/'], next_cursor: null }
    const files = left
    await isDropped.promise
    return { files, next_cursor: null }
  })
  await list.reload()
  list.drop('trip/1')
  await vi.advanceTimersByTimeAsync(1_000)
  left = []
  list.drop('trip/2')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(asked).toHaveLength(2)
  isDropped.resolve()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(namesOf(list)).toEqual([])
})

it('a list that cannot be read says so instead of being empty, and can be read again', async () => {
  let status = 500
  const answer: typeof fetch = () =>
    Promise.resolve(Response.json({ files: [FILE], next_cursor: null }, { status }))
  const http = createHttp({ url: 'http://service', fetch: answer, retry: { tries: 1 } })
  const list = createFileList(createFiles(http), PERMISSIONS)
  await list.reload()
  await list.loadAll()
  expect(list.failure.value).toMatchObject({ status: 500 })
  status = 200
  await list.reload()
  expect(list.failure.value).toBeUndefined()
  expect(namesOf(list)).toEqual(['zz'])
})

it('a list takes no file of another user, whose response came late', async () => {
  const { list } = listOf(['a'])
  await list.reload()
  list.put({ ...FILE, name: 'b', user_id: 'bob' }, { ...FILE, name: 'c' })
  expect(namesOf(list)).toEqual(['a', 'c'])
})

it('a search is for what follows the open folder, in all folders below it', async () => {
  const { list, asked } = listOf(['Photos/a.jpg', 'Photos/Best/a photo.jpg', 'photo.jpg'])
  await list.seek('photo')
  expect(namesOf(list)).toEqual(['photo.jpg', 'Photos/a.jpg', 'Photos/Best/a photo.jpg'])
  list.folder.value = 'Photos/'
  await list.reload()
  expect(namesOf(list)).toEqual(['Photos/Best/a photo.jpg'])
  list.put({ ...FILE, name: 'Photos/b.jpg' })
  list.put({ ...FILE, name: 'Photos/PHOTO.jpg' })
  expect(namesOf(list)).toEqual(['Photos/Best/a photo.jpg', 'Photos/PHOTO.jpg'])
  await list.seek('best/a')
  expect(asked.at(-1)?.get('contains')).toBe('best/a')
})

it('an empty folder is one by its marker, also in a search, but not in itself', async () => {
  const { list, remove } = listOf(['trip/', 'trip/day 1/', 'zoo.txt'])
  await list.reload()
  expect(namesOf(list)).toEqual(['trip/', 'zoo.txt'])
  list.put({ ...FILE, name: 'new/' })
  expect(namesOf(list)).toEqual(['new/', 'trip/', 'zoo.txt'])
  list.folder.value = 'trip/'
  await list.reload()
  expect(namesOf(list)).toEqual(['trip/day 1/'])
  expect(list.files.value).toEqual([])
  list.put({ ...FILE, name: 'trip/' })
  expect(namesOf(list)).toEqual(['trip/day 1/'])
  remove('trip/day 1/')
  list.drop('trip/day 1/')
  await expect.poll(() => namesOf(list)).toEqual([])
  list.folder.value = ''
  await list.seek('tri')
  expect(namesOf(list)).toEqual(['trip/'])
  expect(list.files.value).toEqual([])
})

it('a hidden folder is shown again as what it is then', async () => {
  const { list } = listOf(['trip/1', 'zoo/1', 'a'])
  await list.reload()
  list.hide(['trip/', 'a'], true)
  expect(namesOf(list)).toEqual(['zoo/'])
  list.dropFolder('trip/')
  list.hide(['trip/', 'a'], false)
  expect(namesOf(list)).toEqual(['zoo/', 'a'])
})

it('what is in a folder is counted with it, and again some time after it has changed', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let count = 2
  const { list, asked } = listWith(() => {
    const folders = [
      { prefix: 'trip 1/', file_count: null, size: null },
      { prefix: 'trip/', file_count: count, size: 10 * count },
    ]
    return { files: [], prefixes: ['trip 1/', 'trip/'], folders, next_cursor: null }
  })
  await list.reload()
  expect(asked[0]?.get('folder_totals')).toBe('true')
  expect(list.totals.value.get('trip/')).toMatchObject({ file_count: 2, size: 20 })
  expect(list.totals.value.get('trip 1/')).toMatchObject({ file_count: null })
  count = 4
  for (const name of ['trip/3', 'trip/4']) list.put({ ...FILE, name })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(list.totals.value.get('trip/')).toMatchObject({ file_count: 4, size: 40 })
  expect(asked.map((query) => query.get('prefix'))).toEqual([null, 'trip'])
  count = 3
  list.drop('trip/4')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(list.totals.value.get('trip/')).toMatchObject({ file_count: 3 })
  // Files of folders are listed then, and no folders.
  list.folder.value = ''
  await list.seek('trip')
  expect(asked.at(-1)?.has('folder_totals')).toBe(false)
})
