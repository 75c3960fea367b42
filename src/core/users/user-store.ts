import type { UserId } from './user-id.ts'

/** `deleted` means that the sweeper has not yet purged the user's files and rows. */
export type UserStatus = 'active' | 'suspended' | 'deleted'

export interface User {
  readonly userId: UserId
  readonly status: UserStatus
  /** Milliseconds since 1970 by the database's clock. Differs between successive users with the same id. */
  readonly createdAt: number
}

/**
 * PORT: users. Each method is atomic and rejects with `unavailable` if the database fails. Methods on an unknown or
 * deleted user reject with `not_found`.
 */
export interface UserStore {
  /**
   * Guarantees that an active or suspended user with this id exists. `created` is true if this call created the user.
   * Rejects with `user_exists` while a deleted user with this id is being purged.
   */
  createUser(userId: UserId): Promise<{ readonly user: User; readonly created: boolean }>

  /** Finds a user of any status. */
  findUser(userId: UserId): Promise<User | undefined>

  /**
   * Guarantees that every later read finds this status. A suspension also ends the tokens and links that JWTs have made,
   * and what was made with these tokens, for good. Takes the user's lock.
   */
  setUserStatus(userId: UserId, status: 'active' | 'suspended'): Promise<User>

  /**
   * Guarantees that no token or file of the user is found any more. The sweeper purges the user later. Until then,
   * repeating the call changes nothing.
   */
  deleteUser(userId: UserId): Promise<void>
}
