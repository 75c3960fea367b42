import type { components } from './generated/api.ts'
import { type Http, segment } from './http/http.ts'
import { createListing, type Listing, type ListingOptions } from './http/listing.ts'

export type AccessToken = components['schemas']['AccessToken']
export type IssuedAccessToken = components['schemas']['IssuedAccessToken']
export type AccessTokenPage = components['schemas']['AccessTokenPage']
export type AccessTokenTerms = components['schemas']['AccessTokenTerms']

/** The caller's access tokens. All methods reject with a `CloudRepositoryError`, or with the reason of `signal`. */
export interface Tokens {
  /**
   * Makes a token that permits no more than the caller's. Its secret is in this response only. If the response is lost,
   * rejects with `connection_lost`.
   */
  create(
    terms?: AccessTokenTerms,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<IssuedAccessToken>
  /** The oldest first, without secrets. */
  list(options?: ListingOptions): Listing<AccessToken, AccessTokenPage>
  /** Also revokes the tokens that it has made. */
  revoke(tokenId: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
}

/** The tokens below a path: the same for users and operators. */
export function createTokens(http: Http, path: string): Tokens {
  return {
    create: (terms = {}, { signal } = {}) =>
      http.json({ method: 'POST', path, json: terms, signal }),
    list: (options = {}) =>
      createListing<AccessTokenPage, 'access_tokens'>(http, {
        path,
        options,
        member: 'access_tokens',
      }),
    revoke: async (tokenId, { signal } = {}) =>
      http.remove({ path: `${path}/${segment(tokenId)}`, signal }),
  }
}
