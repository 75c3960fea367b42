import type { UserId } from './user-id.ts'

/** A deleted user is one whose files and rows the sweeper has yet to purge. */
export type UserStatus = 'active' | 'suspended' | 'deleted'

export interface User {
  readonly userId: UserId
  readonly status: UserStatus
  /**
   * Milliseconds since 1970 by the database's clock. It tells users apart who have had the same id: between the creation of
   * one and of the next lie a deletion and a purge, each a transaction.
   */
  readonly createdAt: number
}

/** An access token without its secret. Times are milliseconds since 1970 by the database's clock. */
export interface AccessToken {
  readonly tokenId: string
  readonly userId: UserId
  readonly label: string
  readonly createdAt: number
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  readonly lastUsedAt: number | undefined
}

/** Whom a token stands for. */
export interface AccessTokenUser {
  readonly user: User
  /** Milliseconds until the token expires, by the clock that set its end, below 0 when it has; `undefined` for never. */
  readonly expiresInMs: number | undefined
}

/** A token was used, `agoMs` before the call that says so. */
export interface AccessTokenUse {
  readonly sha256: string
  readonly agoMs: number
}

/** A reason for capacity. (source, reference) is unique for a user. */
export interface Grant {
  readonly source: string
  readonly reference: string
  readonly bytes: number
  /** The device's model, for grants of source `device`. */
  readonly model: string | undefined
  /** In force from then on, in milliseconds since 1970; always when `undefined`. */
  readonly startsAt: number | undefined
  /** No longer in force from then on. */
  readonly endsAt: number | undefined
  readonly createdAt: number
}

export interface AccessTokenKey {
  readonly userId: UserId
  readonly tokenId: string
}

export interface NewAccessToken extends AccessTokenKey {
  /** Of the secret, 64 lower-case hexadecimal digits. */
  readonly sha256: string
  readonly label: string
  /** For ever when `undefined`. */
  readonly expiresInMs: number | undefined
}

export interface GrantKey {
  readonly userId: UserId
  readonly source: string
  readonly reference: string
}

export interface NewGrant extends GrantKey, Omit<Grant, 'source' | 'reference' | 'createdAt'> {}

export interface GrantFilter {
  readonly userId: UserId
  readonly source?: string
  /** All of them when left out. */
  readonly page?: GrantPage | undefined
}

/** Up to `limit` grants, of those after `after` in the order of source and reference. */
export interface GrantPage {
  readonly after: Pick<Grant, 'source' | 'reference'> | undefined
  readonly limit: number
}

/**
 * PORT: users and what belongs to them but their files. Each method is atomic and rejects with `unavailable`
 * when the database fails. Methods on a user that is unknown or deleted reject with `not_found`.
 */
export interface UserStore {
  /**
   * Guarantees that an active or suspended user of that id exists; `created` says whether this call made it.
   * Rejects with `user_exists` while a deleted user of that id is being purged.
   */
  createUser(userId: UserId): Promise<{ readonly user: User; readonly created: boolean }>

  /** The user, whatever the status; `undefined` for an unknown one. */
  findUser(userId: UserId): Promise<User | undefined>

  /** Guarantees that every later read finds that status, and returns the user. Takes the user's lock. */
  setUserStatus(userId: UserId, status: 'active' | 'suspended'): Promise<User>

  /**
   * Guarantees that tokens and files of the user answer to no one; the sweeper purges the rest. Idempotent until
   * purged.
   */
  deleteUser(userId: UserId): Promise<void>

  /** Records a token by the SHA-256 of its secret. `expiresInMs` counts from the database's now. */
  addAccessToken(token: NewAccessToken): Promise<AccessToken>

  /**
   * The user that a secret's SHA-256 stands for, when the token is neither expired nor revoked and the user is
   * not deleted. One indexed read. With `evenExpired` also when the token is expired, but not when it is revoked.
   */
  findAccessTokenUser(
    sha256: string,
    options?: { readonly evenExpired: boolean },
  ): Promise<AccessTokenUser | undefined>

  /** As `findAccessTokenUser`, for up to 100 hashes in one statement; those that stand for nobody are not in it. */
  findAccessTokenUsers(sha256s: readonly string[]): Promise<ReadonlyMap<string, AccessTokenUser>>

  /**
   * Guarantees that the `lastUsedAt` of each of these tokens, at most 500 different ones, is no earlier than its use by
   * the database's clock. It never moves back, whatever the order in which instances report. Unknown tokens are passed
   * over.
   */
  recordAccessTokenUses(uses: readonly AccessTokenUse[]): Promise<void>

  /** All tokens of a user, oldest first, also expired and revoked ones. */
  listAccessTokens(userId: UserId): Promise<readonly AccessToken[]>

  /** Guarantees that the token is refused from now on. `not_found` for a token the user never had; idempotent. */
  revokeAccessToken(token: AccessTokenKey): Promise<void>

  /**
   * Guarantees one grant for (source, reference) with exactly these terms, however often it is called; `created`
   * says whether it was not in force or unknown before. Takes the user's lock, so that it is before or after any
   * commit.
   */
  putGrant(grant: NewGrant): Promise<{ readonly grant: Grant; readonly created: boolean }>

  /** Guarantees that the grant no longer counts. Idempotent, also for one that never was. Takes the user's lock. */
  revokeGrant(grant: GrantKey): Promise<void>

  /** The grants of a user that are not revoked, bytewise by source and reference; with `source` only those. */
  listGrants(filter: GrantFilter): Promise<readonly Grant[]>
}
