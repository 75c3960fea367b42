import type { Uploads } from './queue.ts'
import type { UploadItem, UploadTree } from './upload-item.ts'

export interface UploadRowsProps {
  readonly uploads: Uploads
  /** Whether the service responds. */
  readonly isConnected: boolean
}

/** The uploads of a folder. */
export interface TreeUploads {
  readonly tree: UploadTree
  readonly items: readonly UploadItem[]
}

/** A folder before its uploads, which are rows of their own only while it is open. */
export function rowsOf(
  items: readonly UploadItem[],
  open: ReadonlySet<UploadTree>,
): readonly (UploadItem | TreeUploads)[] {
  const rows: (UploadItem | TreeUploads)[] = []
  for (const [tree, ofTree] of Map.groupBy(items, (item) => item.tree ?? item)) {
    if ('content' in tree) rows.push(tree)
    else rows.push({ tree, items: ofTree }, ...(open.has(tree) ? ofTree : []))
  }
  return rows
}
