import { expect, it } from 'vitest'
import type { FileEntry, FilePage } from '../../../../web/shared/model.ts'
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
function listOf(pages: readonly FilePage[]) {
  const asked: (string | null)[] = []
  const reader = {
    read: async <T>(path: string) => {
      asked.push(new URL(path, 'http://service').searchParams.get('cursor'))
      return pages[asked.length - 1] as T
    },
  }
  const list = createFileList(reader, { may: () => true, narrow: (prefix) => prefix })
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
