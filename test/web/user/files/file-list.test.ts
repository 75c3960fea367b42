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
