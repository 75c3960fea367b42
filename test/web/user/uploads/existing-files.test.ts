import { expect, it } from 'vitest'
import { createFiles } from '../../../../packages/js/src/files/files.ts'
import { createHttp } from '../../../../packages/js/src/http/http.ts'
import { createFileList } from '../../../../web/user/files/file-list.ts'
import { createExistingFiles } from '../../../../web/user/uploads/existing-files.ts'
import { createItem, type UploadTree } from '../../../../web/user/uploads/upload-item.ts'

const TREE: UploadTree = { id: 1, folder: 'Trip/' }

/** A repository of these names, and the prefixes that it is asked for. */
function repositoryOf(names: readonly string[], { mayRead = true } = {}) {
  const asked: string[] = []
  const answer: typeof fetch = (url) => {
    const { searchParams: query } = url as URL
    const prefix = query.get('prefix') ?? ''
    asked.push(prefix)
    const from = Number(query.get('cursor') ?? 0)
    const to = from + Number(query.get('limit'))
    const found = names.filter((name) => name.startsWith(prefix))
    const files = found.slice(from, to).map((name) => ({ name, etag: 'e', user_id: 'alice' }))
    const next_cursor = to < found.length ? String(to) : null
    return Promise.resolve(Response.json({ files, folders: [], prefixes: [], next_cursor }))
  }
  const files = createFiles(createHttp({ url: 'http://service', fetch: answer }))
  const may = () => mayRead
  const list = createFileList(files, { may, owns: () => true, narrow: (prefix) => prefix })
  return { list, asked, look: createExistingFiles({ list, permissions: { may } }) }
}

function itemOf(name: string, tree: UploadTree | undefined = TREE) {
  return createItem({ id: 2, content: new Blob(['x']), name, tree })
}

it('the files of a folder share one listing, and a second look asks for the file', async () => {
  const { look, asked } = repositoryOf(['Trip/a', 'Trip/b/c'])
  const [taken, free] = [itemOf('Trip/a'), itemOf('Trip/b/d')]
  expect((await look(taken)).file?.name).toBe('Trip/a')
  expect(await look(free)).toEqual({ file: undefined, isFolder: false, around: undefined })
  expect(asked).toEqual(['Trip', 'Trip/'])
  expect((await look(taken)).file?.name).toBe('Trip/a')
  expect(asked).toEqual(['Trip', 'Trip/', 'Trip/a'])
})

it('a file that is in no folder is asked for', async () => {
  const { look, asked } = repositoryOf(['alone'])
  expect((await look(itemOf('alone', undefined))).file?.name).toBe('alone')
  expect(asked).toEqual(['alone'])
})

it('a folder of very many files is asked for each name', async () => {
  const { look, asked } = repositoryOf(Array.from({ length: 5_000 }, (_, at) => `Trip/${at}`))
  expect((await look(itemOf('Trip/4999'))).file?.name).toBe('Trip/4999')
  expect(asked).toEqual(['Trip', 'Trip/', 'Trip/', 'Trip/', 'Trip/4999'])
})

it('a token that may not read is not used to ask', async () => {
  const { look, asked } = repositoryOf(['Trip/a'], { mayRead: false })
  expect((await look(itemOf('Trip/a'))).file).toBeUndefined()
  expect(asked).toEqual([])
})

it('a folder with the name of the file is found, and a file with that of a folder', async () => {
  const { look } = repositoryOf(['Trip/a/b', 'Trip/c'])
  expect(await look(itemOf('Trip/a'))).toMatchObject({ isFolder: true })
  expect(await look(itemOf('Trip/a/c'))).toMatchObject({ isFolder: false, around: undefined })
  expect(await look(itemOf('Trip/c/d'))).toMatchObject({ around: 'Trip/c' })
  const file = repositoryOf(['Trip'])
  expect(await file.look(itemOf('Trip/a'))).toMatchObject({ around: 'Trip' })
})

it('a listing that failed is read again', async () => {
  const { list } = repositoryOf([])
  let hasFailed = false
  const look = createExistingFiles({
    permissions: { may: () => true },
    list: {
      ...list,
      find: (name) => {
        if (hasFailed) return list.find(name)
        hasFailed = true
        return Promise.reject(new Error('Lost.'))
      },
    },
  })
  const item = itemOf('Trip/a')
  await expect(look(item)).rejects.toThrow('Lost.')
  expect((await look(item)).file).toBeUndefined()
})
