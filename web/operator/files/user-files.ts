import type { AdminClient, StoredFile } from '../../../packages/js/src/admin.ts'
import { firstPage } from '../../shared/connection.ts'
import { asPeople, comparisonOf } from '../../shared/file-order.ts'
import type { Order } from '../../shared/model.ts'
import { createPagedList, type PagedList } from '../paged-list.ts'

export type UserFile = StoredFile

export interface FileQuery {
  /** A part of the names, in either case; empty for all files. */
  readonly contains: string
  readonly order: Order
}

export type UserFiles = PagedList<UserFile, FileQuery>

const PAGE_FILES = 500

/** The files of one user. */
export function createUserFiles(client: Pick<AdminClient, 'user'>, userId: string): UserFiles {
  const { files } = client.user(userId)
  return createPagedList({
    initial: { contains: '', order: 'name' },
    async read({ contains, order }: FileQuery, cursor) {
      const part = contains === '' ? {} : { contains }
      const page = await firstPage(files.list({ ...part, order, limit: PAGE_FILES, cursor }))
      return { items: page?.files ?? [], next: page?.next_cursor ?? null }
    },
    comparison: ({ order }) => comparisonOf(order, asPeople),
  })
}
