import type { UserId } from '../users/user-id.ts'
import type { User } from '../users/user-store.ts'
import type { Scope, Scoped } from './scope.ts'

/** A token without its secret. Times are milliseconds since 1970 by the database's clock. */
export interface AccessToken extends Scoped {
  readonly tokenId: string
  readonly userId: UserId
  /** The token that made it: a `tokenId`, or the SHA-256 of a JWT. */
  readonly parentId: string | undefined
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
  /** See `Actor`. */
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

export interface AccessTokenKey {
  readonly userId: UserId
  readonly tokenId: string
  /** If set, other tokens than those that this one has made are not found. */
  readonly parentId?: string | undefined
}

/** The token that makes another one, or a link. What a token with a scope makes ends with it at the latest. */
export interface TokenMaker {
  readonly tokenId: string
  readonly isJwt: boolean
  readonly isScoped: boolean
  /** Of a JWT, which has no row: how long it lives on. */
  readonly leftMs: number | undefined
  /** See `Actor`. */
  readonly credential: string | undefined
}

export interface NewAccessToken {
  readonly userId: UserId
  readonly tokenId: string
  readonly scope: Scope | undefined
  readonly parent: TokenMaker | undefined
  /** SHA-256 of the secret: 64 lower-case hexadecimal digits. */
  readonly sha256: string
  readonly label: string
  /** How long it is to live; no longer than `maxLifeMs`. */
  readonly expiresInMs: number | undefined
  /** The longest life of a token that another one makes. */
  readonly maxLifeMs?: number | undefined
}

/** PORT: the access tokens of users. It keeps the contract of `UserStore`. */
export interface AccessTokenStore {
  /**
   * Records a token by the SHA-256 of its secret. `expiresInMs` counts from the database's current time. If the parent
   * has a scope, the token ends with it at the latest. Of the user's expired and revoked tokens, the 100 that ended
   * last are kept, and those that have made a valid token or a link; what another one has made passes to its parent.
   * Rejects with `access_token_invalid` if the parent is no longer valid, with `scope_insufficient` if it has a scope
   * and expires before the asked time, with `not_found` if the user has no device `scope.deviceId`, and with
   * `access_token_limit_exceeded` if the user has `MAX_VALID_TOKENS`.
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
}
