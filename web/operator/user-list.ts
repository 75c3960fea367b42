import { type ReadonlySignal, signal } from '@preact/signals'
import type { AdminClient, User } from '../../client/src/admin.ts'
import { isProblem } from '../../client/src/errors.ts'
import { firstPage } from '../shared/connection.ts'

export interface UserList {
  /** The users read so far, ordered by id. */
  readonly users: ReadonlySignal<readonly User[]>
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

export function createUserList(client: Pick<AdminClient, 'users'>): UserList {
  const users = signal<readonly User[]>([])
  const hasMore = signal(false)
  const prefix = signal('')
  let cursor: string | null = null
  let lastAsked = 0
  let pending = 0
  let isFirst = true

  async function ask(after: string | null) {
    const options = { prefix: prefix.value || undefined, limit: PAGE_USERS }
    try {
      return await firstPage(client.users.list({ ...options, cursor: after ?? undefined }))
    } catch (error) {
      if (isImpossiblePrefix(error)) return undefined
      throw error
    }
  }

  /** Only the result of the latest read counts. */
  async function read(after: string | null): Promise<void> {
    lastAsked += 1
    const asked = lastAsked
    pending += 1
    try {
      const { users: found = [], next_cursor: next = null } = (await ask(after)) ?? {}
      if (asked !== lastAsked) return
      isFirst = after === null
      users.value = isFirst ? found : [...users.value, ...found]
      cursor = next
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
  return isProblem(error, 'invalid_parameter') && error.problem.parameter === 'prefix'
}
