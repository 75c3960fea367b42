import type { AdminClient, ListedUser } from '../../packages/js/src/admin.ts'
import { firstPage } from '../shared/connection.ts'
import { asPeople, type Comparison } from '../shared/file-order.ts'
import { createPagedList, type ItemPage, type PagedList } from './paged-list.ts'

export type UserOrder = 'user_id' | 'created_at' | '-created_at'

export interface UserQuery {
  /** A part of the ids, or of ids or labels of devices. If it is not empty, users are in the order of their ids. */
  readonly contains: string
  readonly order: UserOrder
}

export type UserList = PagedList<ListedUser, UserQuery>

const PAGE_USERS = 100

export function createUserList({ users }: Pick<AdminClient, 'users'>): UserList {
  async function read(
    { contains, order }: UserQuery,
    cursor?: string,
  ): Promise<ItemPage<ListedUser>> {
    const which = contains === '' ? { order } : { contains }
    const page = await firstPage(users.list({ ...which, limit: PAGE_USERS, cursor }))
    return { items: page?.users ?? [], next: page?.next_cursor ?? null }
  }
  return createPagedList({ initial: { contains: '', order: 'user_id' }, read, comparison })
}

function comparison({ contains, order }: UserQuery): Comparison<ListedUser> {
  const byId: Comparison<ListedUser> = (a, b) => asPeople(a.user_id, b.user_id)
  if (contains !== '' || order === 'user_id') return byId
  const byTime: Comparison<ListedUser> = (a, b) =>
    Date.parse(a.created_at) - Date.parse(b.created_at)
  return order === 'created_at' ? byTime : (a, b) => byTime(b, a)
}
