import { randomUUID } from 'node:crypto'
import { AppError } from '../errors.ts'
import type { Account, AccountPage, Ledger } from '../ledger/ledger.ts'
import { parseUserId, type UserId } from './user-id.ts'
import type { UserStore } from './user-store.ts'

export interface UsersOptions {
  readonly users: UserStore
  readonly ledger: Ledger
  /**
   * Told of every user whose status may have changed, before the change is answered and also when its outcome is
   * unknown, so that whatever remembers users can forget this one.
   */
  readonly onChange?: (userId: UserId) => void
}

/**
 * The use cases of users as an operator has them; the admin API and the command line call the same (docs/administration.md). An unknown user rejects with `not_found`, and so does a deleted one but where it says otherwise.
 */
export interface Users {
  /**
   * Guarantees that an active or suspended user of that id, or of a generated one, exists; `created` says whether this
   * call made it. Rejects with `user_exists` while a deleted user of that id is being purged.
   */
  create(userId: UserId | undefined): Promise<{ account: Account; created: boolean }>

  /** A user with the figures of one moment; of a deleted one they show how much is left to purge. */
  find(userId: UserId): Promise<Account>

  /** The page of users, deleted ones included, in the order of their ids, bytewise. */
  list(page: AccountPage): Promise<readonly Account[]>

  /** Guarantees that requests of the user find that status: here at once, on other instances within 5 s. */
  setStatus(userId: UserId, status: 'active' | 'suspended'): Promise<Account>

  /**
   * Guarantees that files of the user answer to no one, and that tokens don't: here at once, on other instances within
   * 5 s. The sweeper purges the rest. Idempotent until purged.
   */
  remove(userId: UserId): Promise<void>
}

export function createUsers(options: UsersOptions): Users {
  const { users, ledger, onChange = () => undefined } = options

  async function find(userId: UserId): Promise<Account> {
    const account = await ledger.findAccount(userId)
    if (account === undefined) throw new AppError('not_found', 'There is no such user.')
    return account
  }

  return {
    async create(userId = parseUserId(randomUUID())) {
      const { created } = await users.createUser(userId)
      return { account: await find(userId), created }
    },

    find,

    list: (page) => ledger.listAccounts(page),

    async setStatus(userId, status) {
      try {
        await users.setUserStatus(userId, status)
      } finally {
        onChange(userId)
      }
      return await find(userId)
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
