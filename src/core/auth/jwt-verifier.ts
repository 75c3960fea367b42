import type { UserId } from '../users/user-id.ts'

export interface VerifiedJwt {
  /** The `sub` claim; there may be no such user. */
  readonly userId: UserId
  /** Milliseconds until `exp`; negative if it has passed. */
  readonly expiresInMs: number
}

/** PORT: the identity provider whose JWTs (RFC 7519) are accepted as access tokens. */
export interface JwtVerifier {
  /**
   * Guarantees that the identity provider signed `jwt` with a current key, for this service, and that it is valid now.
   * Rejects with `access_token_invalid` otherwise, and with `unavailable` if the keys can't be fetched. With
   * `evenExpired`, `exp` may have passed.
   */
  verify(jwt: string, options?: { readonly evenExpired: boolean }): Promise<VerifiedJwt>
}
