import { type ReadonlySignal, signal } from '@preact/signals'
import type { Api } from '../shared/api.ts'
import type { Account, AccountPage } from './model.ts'

export interface UserList {
  /** In the order of their ids, as far as they have been read. */
  readonly users: ReadonlySignal<readonly Account[]>
  readonly hasMore: ReadonlySignal<boolean>
  /** Reads the first page anew. */
  load(): Promise<void>
  loadMore(): Promise<void>
  clear(): void
}

const PAGE_USERS = 100

export function createUserList(api: Api): UserList {
  const users = signal<readonly Account[]>([])
  const hasMore = signal(false)
  let cursor: string | null = null
  let reading = 0

  /** What was asked for before something else was is not wanted any more. */
  async function read(after: string | null): Promise<void> {
    const query = after === null ? '' : `&cursor=${encodeURIComponent(after)}`
    reading += 1
    const mine = reading
    const page = await api.read<AccountPage>(`admin/users?limit=${PAGE_USERS}${query}`)
    if (mine !== reading) return
    users.value = after === null ? page.users : [...users.value, ...page.users]
    cursor = page.next_cursor
    hasMore.value = cursor !== null
  }

  return {
    users,
    hasMore,
    load: () => read(null),
    loadMore: () => read(cursor),
    clear() {
      reading += 1
      users.value = []
      hasMore.value = false
    },
  }
}
