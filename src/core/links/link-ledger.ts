import type { Caller } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import type { Link, LinkKind, LinkTarget } from './link.ts'

export interface NewLink extends Caller {
  readonly linkId: string
  /** SHA-256 of the secret: 64 lower-case hexadecimal digits. */
  readonly sha256: string
  /** The token that makes it: revoking that removes the link. A JWT has no row. */
  readonly madeBy: { readonly tokenId: string; readonly isJwt: boolean }
  readonly kind: LinkKind
  readonly target: LinkTarget
  readonly label: string
  readonly password: string | undefined
  readonly maxUses: number | undefined
  readonly expiresInMs: number | undefined
}

/** A link that visitors may use, and the account of its owner. */
export interface FoundLink {
  readonly link: Link
  readonly owner: Caller
}

export interface ListLinks extends Caller {
  /** If set, only those that this token has made. */
  readonly tokenId: string | undefined
  /** The last `linkId` of the previous page. */
  readonly after: string | undefined
  readonly limit: number
}

export interface NamedLink extends Caller {
  readonly linkId: string
  /** If set, links that other tokens have made are not found. */
  readonly tokenId: string | undefined
}

/** PORT: links for people without an account. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface LinkLedger {
  /**
   * Guarantees the link. Rejects with `access_token_invalid` also if the token is no longer valid, and with
   * `link_limit_exceeded` if the user has `MAX_LINKS`; before that, those that have ended are forgotten.
   */
  addLink(link: NewLink): Promise<Link>

  /** `undefined` unless the link is unexpired and has uses left, and its owner is active. One indexed read. */
  findLink(sha256: string): Promise<FoundLink | undefined>

  /** Oldest first, with those that have ended. */
  listLinks(page: ListLinks): Promise<readonly Link[]>

  /** Guarantees that no instance finds the link any more. Rejects with `not_found`. */
  removeLink(link: NamedLink): Promise<void>

  /**
   * Counts a use, if `findLink` would still find the link, and resolves to whether it did: one guarded statement, so that
   * `maxUses` is exact at any number of instances. (A drop is counted by its `commit`, see `CommitUpload`.)
   */
  countUse(link: { readonly userId: UserId; readonly linkId: string }): Promise<boolean>
}
