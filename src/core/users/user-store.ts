import type { Scope, Scoped } from '../auth/scope.ts'
import type { UserId } from './user-id.ts'

/** `deleted` means that the sweeper has not yet purged the user's files and rows. */
export type UserStatus = 'active' | 'suspended' | 'deleted'

export interface User {
  readonly userId: UserId
  readonly status: UserStatus
  /** Milliseconds since 1970 by the database's clock. Differs between successive users with the same id. */
  readonly createdAt: number
}

/** A token without its secret. Times are milliseconds since 1970 by the database's clock. */
export interface AccessToken extends Scoped {
  readonly tokenId: string
  readonly userId: UserId
  readonly label: string
  readonly createdAt: number
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  readonly lastUsedAt: number | undefined
}

/** What a valid token, or a JWT, says. */
export interface AccessTokenUser extends Scoped {
  readonly user: User
  /** Of a JWT, its SHA-256. */
  readonly tokenId: string
  /** Milliseconds by the clock that set the expiry. Negative once expired, `undefined` if the token never expires. */
  readonly expiresInMs: number | undefined
  readonly isJwt: boolean
  /** See `AuthorizedCaller`. */
  readonly credential: string | undefined
}

/** A use of a token, `agoMs` before the call that reports it. */
export interface AccessTokenUse {
  readonly sha256: string
  readonly agoMs: number
}

/** A user's access tokens, oldest first; all of them without a `page`. */
export interface AccessTokenFilter {
  readonly userId: UserId
  /** If set, only those that this token has made. */
  readonly parentId?: string | undefined
  readonly page?: AccessTokenPage | undefined
}

export interface AccessTokenPage {
  readonly after: AccessTokenPlace | undefined
  readonly limit: number
}

export interface AccessTokenPlace {
  readonly createdAt: number
  readonly tokenId: string
}

/** Adds bytes to a user's capacity. (source, reference) is unique per user. Times are milliseconds since 1970. */
export interface Grant extends GrantName, GrantTerms {
  readonly createdAt: number
}

export interface GrantName {
  readonly source: string
  readonly reference: string
}

export interface GrantTerms {
  readonly bytes: number
  /** The model of the device; set only for grants with the source `device`. */
  readonly model: string | undefined
  /** Inclusive; `undefined` if the grant starts at once. */
  readonly startsAt: number | undefined
  /** Exclusive; `undefined` if the grant never ends. */
  readonly endsAt: number | undefined
}

export interface AccessTokenKey {
  readonly userId: UserId
  readonly tokenId: string
  /** If set, other tokens than those that this one has made are not found. */
  readonly parentId?: string | undefined
}

export interface TokenParent {
  readonly tokenId: string
  readonly isJwt: boolean
  /** See `AuthorizedCaller`. */
  readonly credential: string | undefined
}

export interface NewAccessToken {
  readonly userId: UserId
  readonly tokenId: string
  readonly scope: Scope | undefined
  /** The token that makes this one. A JWT has no row, so its expiry is already in `expiresInMs`. */
  readonly parent: TokenParent | undefined
  /** SHA-256 of the secret: 64 lower-case hexadecimal digits. */
  readonly sha256: string
  readonly label: string
  /** `undefined` for a token that never expires. */
  readonly expiresInMs: number | undefined
}

export interface GrantKey extends GrantName {
  readonly userId: UserId
}

export interface NewGrant extends GrantKey, GrantTerms {}

export interface GrantFilter {
  readonly userId: UserId
  readonly source?: string
  readonly page?: GrantPage | undefined
}

export interface GrantPage {
  readonly after: GrantName | undefined
  readonly limit: number
}

/**
 * PORT: users, their access tokens and grants. Each method is atomic and rejects with `unavailable` if the database
 * fails. Methods on an unknown or deleted user reject with `not_found`.
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

  /**
   * Records a token by the SHA-256 of its secret. `expiresInMs` counts from the database's current time; a parent that
   * expires earlier replaces it. Of the user's expired and revoked tokens, the 100 that ended last are kept. Rejects
   * with `access_token_invalid` if the parent is no longer valid, with `scope_insufficient` if it expires before the
   * asked time, with `not_found` if the user has no device `scope.deviceId`, and with `access_token_limit_exceeded` if
   * the user has `MAX_VALID_TOKENS`.
   */
  addAccessToken(token: NewAccessToken): Promise<AccessToken>

  /**
   * The user of the token with this SHA-256; `undefined` for expired and revoked tokens and deleted users.
   * `evenExpired` also accepts expired tokens, but not revoked ones. One indexed read.
   */
  findAccessTokenUser(
    sha256: string,
    options?: { readonly evenExpired: boolean },
  ): Promise<AccessTokenUser | undefined>

  /**
   * Guarantees that `lastUsedAt` of each token, by the database's clock, is no earlier than the given use. The time
   * never moves back, whatever the order of the calls. Takes at most 500 distinct tokens and ignores unknown ones.
   */
  recordAccessTokenUses(uses: readonly AccessTokenUse[]): Promise<void>

  /** The user's tokens by creation and id, including expired and revoked ones. */
  listAccessTokens(filter: AccessTokenFilter): Promise<readonly AccessToken[]>

  /**
   * Guarantees that the token, and all that were made with it or with those, are refused from now on. Idempotent;
   * `not_found` for a token that is not kept.
   */
  revokeAccessToken(token: AccessTokenKey): Promise<void>

  /**
   * Guarantees one grant for (source, reference) with exactly these terms. Idempotent. `created` is true if the grant
   * did not exist. Takes the user's lock, so every commit sees the grant either before or after
   * the change.
   */
  putGrant(grant: NewGrant): Promise<{ readonly grant: Grant; readonly created: boolean }>

  /**
   * Deletes the grant, which no longer counts, and revokes the tokens of its device, if it is one. Idempotent, also for
   * an unknown grant. Takes the user's lock.
   */
  revokeGrant(grant: GrantKey): Promise<void>

  /** Whether the user has this device. One indexed read. */
  hasDevice(device: { readonly userId: UserId; readonly deviceId: string }): Promise<boolean>

  /** The user's grants that are not revoked, ordered bytewise by source and reference. */
  listGrants(filter: GrantFilter): Promise<readonly Grant[]>
}
