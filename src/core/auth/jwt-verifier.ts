import type { UserId } from '../users/user-id.ts'

export interface VerifiedJwt {
  /** Its `sub`. Whether there is such a user is another matter. */
  readonly userId: UserId
  /** Milliseconds until its `exp`; below 0 when that has passed. */
  readonly expiresInMs: number
}

/** PORT: the identity provider whose JWTs (RFC 7519) are access tokens too. */
export interface JwtVerifier {
  /**
   * Guarantees that the identity provider signed `jwt` with one of its present keys, for this service, and that it is
   * in force. Rejects with `access_token_invalid` when it is not so, and with `unavailable` when the keys that
   * would decide it can't be had. With `evenExpired` its `exp` may have passed.
   */
  verify(jwt: string, options?: { readonly evenExpired: boolean }): Promise<VerifiedJwt>
}
