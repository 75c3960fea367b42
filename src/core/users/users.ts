import { randomUUID } from 'node:crypto'
import type { Account, AccountPage, AccountLedger } from './account-ledger.ts'
import { type Caller, callerOf, inactiveUser, userNotFound } from './caller.ts'
import { parseUserId, type UserId } from './user-id.ts'
import type { UserStore } from './user-store.ts'

export interface UsersOptions {
  readonly users: UserStore
  readonly ledger: AccountLedger
  /** Called before the answer if a status may have changed, even if the outcome is unknown, to invalidate caches. */
  readonly onChange?: (userId: UserId) => void
}

/** User administration (docs/administration.md). Unless noted, `not_found` for unknown and deleted users. */
export interface Users {
  /** Like `UserStore.createUser`, but generates an id if none is given. */
  create(userId: UserId | undefined): Promise<{ userId: UserId; created: boolean }>

  /** Also finds deleted users. Their figures show how much remains to be purged. */
  find(userId: UserId): Promise<Account>

  list(page: AccountPage): Promise<readonly Account[]>

  /** Guarantees that requests see the new status: on this instance at once, on others within 5 s. */
  setStatus(userId: UserId, status: 'active' | 'suspended'): Promise<void>

  /** Like `UserStore.deleteUser`. Tokens are refused on this instance at once, on others within 5 s. */
  remove(userId: UserId): Promise<void>
}

export function createUsers(options: UsersOptions): Users {
  const { users, ledger, onChange = () => undefined } = options

  return {
    async create(userId = parseUserId(randomUUID())) {
      const { created } = await users.createUser(userId)
      return { userId, created }
    },

    async find(userId) {
      const account = await ledger.findAccount(userId)
      if (account === undefined) throw userNotFound(userId)
      return account
    },

    list: (page) => ledger.listAccounts(page),

    async setStatus(userId, status) {
      try {
        await users.setUserStatus(userId, status)
      } finally {
        onChange(userId)
      }
    },

    async remove(userId) {
      try {
        await users.deleteUser(userId)
      } finally {
        onChange(userId)
      }
    },
  }
}

/** The account of an active user. Rejects with `not_found` for an unknown or deleted user, and with `user_suspended`. */
export async function findActive(users: Pick<Users, 'find'>, userId: UserId): Promise<Caller> {
  const { user } = await users.find(userId)
  if (user.status === 'deleted') throw userNotFound(userId)
  if (user.status !== 'active') throw inactiveUser(user.status)
  return callerOf(user)
}
