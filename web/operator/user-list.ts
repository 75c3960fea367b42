import { type ReadonlySignal, signal } from '@preact/signals'
import { type Api, ProblemError } from '../shared/api.ts'
import type { Account, AccountPage } from './model.ts'

export interface UserList {
  /** The users read so far, ordered by id. */
  readonly users: ReadonlySignal<readonly Account[]>
  readonly hasMore: ReadonlySignal<boolean>
  /** The current id prefix. */
  readonly prefix: ReadonlySignal<string>
  /** Reads the first page again. */
  load(): Promise<void>
  /** Reads the first page of ids with this prefix. */
  search(prefix: string): Promise<void>
  loadMore(): Promise<void>
  /** Reads the first page again, unless further pages are loaded or a read is running. */
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

  /** Only the result of the latest read counts. */
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

/** The prefix contains a character that no id has, so no user matches. */
function isImpossiblePrefix(error: unknown): boolean {
  return error instanceof ProblemError && error.facts['parameter'] === 'prefix'
}
