import { type ReadonlySignal, signal } from '@preact/signals'
import { type Api, ProblemError } from '../shared/api.ts'
import type { Account, AccountPage } from './model.ts'

export interface UserList {
  /** In the order of their ids, as far as they have been read. */
  readonly users: ReadonlySignal<readonly Account[]>
  readonly hasMore: ReadonlySignal<boolean>
  /** What the ids begin with. */
  readonly prefix: ReadonlySignal<string>
  /** Reads the first page anew. */
  load(): Promise<void>
  /** Reads the first page of those that begin so. */
  search(prefix: string): Promise<void>
  loadMore(): Promise<void>
  /** Reads the first page anew where it is the only one, and where nothing else is being read. */
  refresh(): Promise<void>
  clear(): void
}

const PAGE_USERS = 100

export function createUserList(api: Api): UserList {
  const users = signal<readonly Account[]>([])
  const hasMore = signal(false)
  const prefix = signal('')
  let cursor: string | null = null
  let lastAsked = 0
  let pending = 0
  let isFirst = true

  async function ask(query: URLSearchParams): Promise<AccountPage> {
    try {
      return await api.read<AccountPage>(`admin/users?${query.toString()}`)
    } catch (error) {
      if (isImpossiblePrefix(error)) return { users: [], next_cursor: null }
      throw error
    }
  }

  /** What was asked for before something else was is not wanted any more. */
  async function read(after: string | null): Promise<void> {
    const query = new URLSearchParams({ limit: String(PAGE_USERS) })
    if (prefix.value !== '') query.set('prefix', prefix.value)
    if (after !== null) query.set('cursor', after)
    lastAsked += 1
    const asked = lastAsked
    pending += 1
    try {
      const page = await ask(query)
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
    prefix,
    load: () => read(null),
    async search(wanted) {
      prefix.value = wanted
      hasMore.value = false
      await read(null)
    },
    loadMore: () => read(cursor),
    async refresh() {
      if (isFirst && pending === 0) await read(null)
    },
    clear() {
      lastAsked += 1
      prefix.value = ''
      users.value = []
      hasMore.value = false
    },
  }
}

/** Nobody has an id that begins with what no id has in it. */
function isImpossiblePrefix(error: unknown): boolean {
  return error instanceof ProblemError && error.facts['parameter'] === 'prefix'
}
