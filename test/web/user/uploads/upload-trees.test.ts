import { expect, it } from 'vitest'
import { createItem, type UploadTree } from '../../../../web/user/uploads/upload-item.ts'
import { rowsOf } from '../../../../web/user/uploads/upload-trees.ts'

it('the uploads of a folder are one row, and rows of their own while it is open', () => {
  const tree: UploadTree = { id: 9, folder: 'Trip/' }
  const item = (id: number, of?: UploadTree) =>
    createItem({ id, content: new Blob([]), name: `${id}`, tree: of })
  const [one, two, three, alone] = [item(1, tree), item(2, tree), item(4, tree), item(3)]
  const items = [one, two, alone, three]
  const group = { tree, items: [one, two, three] }
  expect(rowsOf(items, new Set())).toEqual([group, alone])
  expect(rowsOf(items, new Set([tree]))).toEqual([group, one, two, three, alone])
})
