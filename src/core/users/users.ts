import { randomUUID } from 'node:crypto'
import { FairSemaphore } from '../async/fair-semaphore.ts'
import type { Account, AccountPage, AccountLedger } from './account-ledger.ts'
import { userNotFound } from './caller.ts'
import { parseUserId, type UserId } from './user-id.ts'
import { searchUsers, type UserSearch, type UserSearchLedger } from './user-search.ts'
import type { UserStore } from './user-store.ts'

export interface UsersOptions {
  readonly users: UserStore
  readonly ledger: AccountLedger & UserSearchLedger
  /** Called before the answer if a status may have changed, even if the outcome is unknown, to invalidate caches. */
  readonly onChange?: (userId: UserId) => void
}

/** User administration (docs/administration.md). Unless noted, `not_found` for unknown and deleted users. */
export type Users = ReturnType<typeof createUsers>

export function createUsers(options: UsersOptions) {
  const { users, ledger, onChange = () => undefined } = options
  /** Each takes a part of every iteration of the event loop, on SQLite some 20 ms. */
  const searches = new FairSemaphore({ permits: 1 })

  return {
    /** Like `UserStore.createUser`, but generates an id if none is given. */
    async create(
      userId: UserId | undefined = parseUserId(randomUUID()),
    ): Promise<{ userId: UserId; created: boolean }> {
      const { created } = await users.createUser(userId)
      return { userId, created }
    },

    /** Also finds deleted users. Their figures show how much remains to be purged. */
    async find(userId: UserId): Promise<Account> {
      const account = await ledger.findAccount(userId)
      if (account === undefined) throw userNotFound(userId)
      return account
    },

    /** Also finds deleted users. */
    listDeviceUsage: (userId: UserId) => ledger.reportDevices(userId),

    list: (page: AccountPage) => ledger.listAccounts(page),

    /** One at a time. */
    search: (search: UserSearch) => searches.run({ owner: '' }, () => searchUsers(ledger, search)),

    /** Guarantees that requests see the new status: on this instance at once, on others within 5 s. */
    async setStatus(userId: UserId, status: 'active' | 'suspended'): Promise<void> {
      try {
        await users.setUserStatus(userId, status)
      } finally {
        onChange(userId)
      }
    },

    /** Like `UserStore.deleteUser`. Tokens are refused on this instance at once, on others within 5 s. */
    async remove(userId: UserId): Promise<void> {
      try {
        await users.deleteUser(userId)
      } finally {
        onChange(userId)
      }
    },
  }
}
