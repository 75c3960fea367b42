import type { User } from './user-store.ts'
import type { UserId } from './user-id.ts'

/**
 * The account that a request acts for. An id alone does not name it: once a deleted user is purged, the id can belong to
 * another account, which was created at another time.
 */
export interface Caller {
  readonly userId: UserId
  /** `User.createdAt`. */
  readonly userCreatedAt: number
}

/** A caller whose access token came with a request. */
export interface AuthorizedCaller extends Caller {
  /**
   * Guarantees that the caller may still act, by what was known at most 5 s ago: rejects with `access_token_invalid` when
   * the token was revoked or its user deleted since, with `user_suspended`, and with `unavailable` when that can't be
   * found out. A token that merely expired since does not end what it was let in for.
   */
  readonly reverify: () => Promise<void>
}

export function callerOf({ userId, createdAt }: Pick<User, 'userId' | 'createdAt'>): Caller {
  return { userId, userCreatedAt: createdAt }
}
