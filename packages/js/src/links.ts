import type { components } from './generated/api.ts'
import { type Http, repeatable, segment } from './http/http.ts'
import { createListing, type Listing, type ListingOptions } from './http/listing.ts'

export type Link = components['schemas']['Link']
export type CreatedLink = components['schemas']['CreatedLink']
export type LinkChanges = components['schemas']['LinkChanges']
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
  /** Changes what is given. `null` takes a limit or the password away. */
  update(
    linkId: string,
    changes: LinkChanges,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Link>
  /** Gives the link a new address, which is in this response only. The old one ends at once. */
  renewSecret(
    linkId: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<CreatedLink>
  /** Ends a link for everyone. Downloads in progress go on. */
  revoke(linkId: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
}

const PATH = 'users/me/links'

export function createLinks(http: Http): Links {
  const pathOf = (linkId: string): string => `${PATH}/${segment(linkId)}`
  return {
    create: (terms, { signal } = {}) =>
      http.json({ method: 'POST', path: PATH, json: terms, signal }),
    list: (options = {}) =>
      createListing<LinkPage, 'links'>(http, { path: PATH, options, member: 'links' }),
    update: async (linkId, json, { signal } = {}) =>
      http.json({ method: 'PATCH', path: pathOf(linkId), json, signal }),
    // Repeated, since a secret that nobody has seen ends with the next one.
    renewSecret: async (linkId, { signal } = {}) =>
      http.json<CreatedLink>(
        { method: 'POST', path: `${pathOf(linkId)}/secret`, signal },
        repeatable,
      ),
    revoke: async (linkId, { signal } = {}) => http.remove({ path: pathOf(linkId), signal }),
  }
}
