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
  /** Reads the first page anew where it is the only one, and where nothing else is being read. */
  refresh(): Promise<void>
  clear(): void
}

const PAGE_USERS = 100

export function createUserList(api: Api): UserList {
  const users = signal<readonly Account[]>([])
  const hasMore = signal(false)
  let cursor: string | null = null
  let lastAsked = 0
  let pending = 0
  let isFirst = true

  /** What was asked for before something else was is not wanted any more. */
  async function read(after: string | null): Promise<void> {
    const query = after === null ? '' : `&cursor=${encodeURIComponent(after)}`
    lastAsked += 1
    const asked = lastAsked
    pending += 1
    try {
      const page = await api.read<AccountPage>(`admin/users?limit=${PAGE_USERS}${query}`)
      if (asked !== lastAsked) return
      isFirst = after === null
      users.value = isFirst ? page.users : [...users.value, ...page.users]
      cursor = page.next_cursor
      hasMore.value = cursor !== null
    } finally {
      pending -= 1
    }
  }

  return {
    users,
    hasMore,
    load: () => read(null),
    loadMore: () => read(cursor),
    async refresh() {
      if (isFirst && pending === 0) await read(null)
    },
    clear() {
      lastAsked += 1
      users.value = []
      hasMore.value = false
    },
  }
}
