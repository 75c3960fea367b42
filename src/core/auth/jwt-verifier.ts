import type { UserId } from '../users/user-id.ts'
import type { AskedScope } from './scope.ts'

export interface VerifiedJwt {
  /** By the claim of the user. A user with this id need not exist. */
  readonly userId: UserId
  readonly scope?: AskedScope | undefined
  /** Milliseconds until `exp`; negative if it has passed. */
  readonly expiresInMs: number
}

/** PORT: the identity provider whose JWTs (RFC 7519) are accepted as access tokens. */
export interface JwtVerifier {
  /**
   * Guarantees that the identity provider signed `jwt` for this service with a current key, and that it is valid now.
   * Rejects with `access_token_invalid` otherwise, and with `unavailable` if the keys can't be fetched. With
   * `evenExpired`, also accepts a `jwt` whose `exp` has passed.
   */
  verify(jwt: string, options?: { readonly evenExpired: boolean }): Promise<VerifiedJwt>
}
