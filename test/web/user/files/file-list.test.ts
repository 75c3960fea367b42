import { expect, it } from 'vitest'
import { createFiles } from '../../../../client/src/files/files.ts'
import { createHttp } from '../../../../client/src/http/http.ts'
import type { FileEntry } from '../../../../web/shared/model.ts'
import { createFileList } from '../../../../web/user/files/file-list.ts'

const FILE: FileEntry = {
  name: 'zz',
  user_id: 'alice',
  size: 1,
  etag: 'e',
  visibility: 'private',
  created_at: '2026-11-24T00:00:00Z',
  updated_at: '2026-11-24T00:00:00Z',
}

/** A list that reads these pages in their order, and the cursors that it asks with. */
function listOf(pages: readonly object[]) {
  const asked: (string | null)[] = []
  const answer: typeof fetch = (url) => {
    asked.push((url as URL).searchParams.get('cursor'))
    return Promise.resolve(Response.json(pages[asked.length - 1]))
  }
  const files = createFiles(createHttp({ url: 'http://service', fetch: answer }))
  const list = createFileList(files, { may: () => true, narrow: (prefix) => prefix })
  return { list, asked }
}

it('a list reads on after empty pages, until one has files', async () => {
  const { list, asked } = listOf([
    { files: [], next_cursor: 'one' },
    { files: [], next_cursor: 'two' },
    { files: [FILE], next_cursor: 'three' },
    { files: [], next_cursor: null },
  ])
  await list.reload()
  expect(asked).toEqual([null, 'one', 'two'])
  expect(list.files.value).toEqual([FILE])
  expect(list.hasMore.value).toBe(true)
  await list.loadMore()
  expect(asked).toEqual([null, 'one', 'two', 'three'])
  expect(list.files.value).toEqual([FILE])
  expect(list.hasMore.value).toBe(false)
})

it('a list reads all further pages when that is asked, but none of a list that it has read anew since', async () => {
  const page = (name: string, next_cursor: string | null) => ({
    files: [{ ...FILE, name }],
    next_cursor,
  })
  const { list, asked } = listOf([
    page('a', 'one'),
    page('b', 'two'),
    page('c', null),
    page('d', 'other'),
    page('e', 'more'),
  ])
  await list.reload()
  const all = list.loadAll()
  // Waits for the read that is running instead of asking twice.
  await Promise.all([all, list.loadMore()])
  expect(asked).toEqual([null, 'one', 'two'])
  await list.reload()
  const stopped = list.loadAll()
  list.clear()
  await stopped
  expect(asked).toEqual([null, 'one', 'two', null, 'other'])
})
