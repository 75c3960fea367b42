import type { AdminClient, User } from '../../packages/js/src/admin.ts'
import { isProblem } from '../../packages/js/src/errors.ts'
import { firstPage } from '../shared/connection.ts'
import { asPeople, type Comparison } from '../shared/file-order.ts'
import { createPagedList, type ItemPage, type PagedList } from './paged-list.ts'

export type UserOrder = 'user_id' | 'created_at' | '-created_at'

export interface UserQuery {
  /** The beginning of the ids. If it is not empty, users are in the order of their ids. */
  readonly prefix: string
  readonly order: UserOrder
}

export type UserList = PagedList<User, UserQuery>

const PAGE_USERS = 100

export function createUserList({ users }: Pick<AdminClient, 'users'>): UserList {
  async function read({ prefix, order }: UserQuery, cursor?: string): Promise<ItemPage<User>> {
    const which = prefix === '' ? { order } : { prefix }
    try {
      const page = await firstPage(users.list({ ...which, limit: PAGE_USERS, cursor }))
      return { items: page?.users ?? [], next: page?.next_cursor ?? null }
    } catch (error) {
      if (isImpossiblePrefix(error)) return { items: [], next: null }
      throw error
    }
  }
  return createPagedList({ initial: { prefix: '', order: 'user_id' }, read, comparison })
}

function comparison({ prefix, order }: UserQuery): Comparison<User> {
  const byId: Comparison<User> = (a, b) => asPeople(a.user_id, b.user_id)
  if (prefix !== '' || order === 'user_id') return byId
  const byTime: Comparison<User> = (a, b) => Date.parse(a.created_at) - Date.parse(b.created_at)
  return order === 'created_at' ? byTime : (a, b) => byTime(b, a)
}

/** The prefix contains a character that no id has, so no user matches. */
function isImpossiblePrefix(error: unknown): boolean {
  return isProblem(error, 'invalid_parameter') && error.problem.parameter === 'prefix'
}
