import type { components } from './generated/api.ts'
import { type Http, segment } from './http/http.ts'
import { createListing, type Listing, type ListingOptions } from './http/listing.ts'

export type Link = components['schemas']['Link']
export type CreatedLink = components['schemas']['CreatedLink']
export type LinkPage = components['schemas']['LinkPage']

/** The terms of a link: for one file, for the files with a prefix, or for drops. */
export type LinkTerms = Omit<components['schemas']['LinkTerms'], 'kind' | 'name' | 'prefix'> &
  (
    | { readonly kind: 'download'; readonly name: string; readonly prefix?: never }
    | { readonly kind: 'download' | 'drop'; readonly prefix: string; readonly name?: never }
  )

/** Links for people without an account. All methods reject with a `CloudRepositoryError`, or the reason of `signal`. */
export interface Links {
  /** The secret and the address are in this response only. If the response is lost, rejects with `connection_lost`. */
  create(
    terms: LinkTerms,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<CreatedLink>
  /** The oldest first, without secrets. */
  list(options?: ListingOptions): Listing<Link, LinkPage>
  /** Ends a link for everyone. Downloads in progress go on. */
  revoke(linkId: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
}

const PATH = 'users/me/links'

export function createLinks(http: Http): Links {
  return {
    create: (terms, { signal } = {}) =>
      http.json({ method: 'POST', path: PATH, json: terms, isCreation: true, signal }),
    list: (options = {}) =>
      createListing<LinkPage, 'links'>(http, { path: PATH, options, member: 'links' }),
    revoke: async (linkId, { signal } = {}) =>
      http.remove({ path: `${PATH}/${segment(linkId)}`, signal }),
  }
}
