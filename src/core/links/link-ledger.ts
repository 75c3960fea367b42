import type { TokenMaker } from '../auth/access-token-store.ts'
import type { Caller } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import type { AskedLimits } from './drop-limits.ts'
import type { DropLimits, Link, Uses } from './link.ts'

/** A link to be stored. The password is already hashed. */
export interface NewLink extends Caller {
  readonly linkId: string
  /** SHA-256 of the secret: 64 lower-case hexadecimal digits. */
  readonly sha256: string
  readonly createdBy: LinkMaker
  readonly terms: DropLimits & Pick<Link, 'kind' | 'target' | 'label' | 'maxUses' | 'passwordHash'>
  /** How long it is to live; no longer than `maxLifeMs`. */
  readonly askedMs: number | undefined
  /** The longest life of any link. */
  readonly maxLifeMs?: number | undefined
}

/** The token that creates a link. */
export interface LinkMaker extends TokenMaker {
  /** Removing the device removes the link. */
  readonly deviceId: string | undefined
}

/** A link that visitors may use, and the account of its owner. */
export interface FoundLink {
  readonly link: Link
  readonly owner: Caller
  /** See `Actor`: a link that a narrow credential has made counts with that. */
  readonly credential: string
  /** That of the token that made it. */
  readonly deviceId: string | undefined
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

/** The changes of a link. `undefined` keeps a member. */
export interface UpdateLink extends NamedLink {
  readonly label?: string | undefined
  /** `null`: the latest time that is permitted, or no end. */
  readonly expiresAt?: number | null | undefined
  readonly maxUses?: number | null | undefined
  readonly passwordHash?: string | null | undefined
  readonly limits?: AskedLimits | undefined
  /** SHA-256 of a new secret, as in `NewLink`. */
  readonly sha256?: string | undefined
  /** The longest life of any link, from now. */
  readonly maxLifeMs?: number | undefined
  /** The most that any drop link receives. */
  readonly permitted: DropLimits
}

interface LinkKey {
  readonly userId: UserId
  readonly linkId: string
}

/** PORT: links for people without an account. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface LinkLedger {
  /**
   * Stores the link. If the token that creates it has a scope, it ends with that at the latest. Rejects with
   * `access_token_invalid` if the token is no longer valid, with `scope_insufficient` for a longer life, and with
   * `link_count_exceeded` if the user has `MAX_LINKS` that have not ended; those that have are deleted first.
   */
  addLink(link: NewLink): Promise<Link>

  /**
   * `undefined` unless the link is unexpired and its owner is active, and, without `evenUsedUp`, has uses left. One indexed
   * read.
   */
  findLink(
    sha256: string,
    options?: { readonly evenUsedUp: boolean },
  ): Promise<FoundLink | undefined>

  /** Oldest first, with those that have ended. */
  listLinks(page: ListLinks): Promise<readonly Link[]>

  /**
   * Changes the link. One that has ended may work again. After a new secret, no instance finds the link by the old one.
   * Rejects with `not_found`, and as `expiryWithin`, `assertReceives` and `limitsWithin` do.
   */
  updateLink(change: UpdateLink): Promise<Link>

  /** Guarantees that no instance finds the link any more. Rejects with `not_found`. */
  removeLink(link: NamedLink): Promise<void>

  /**
   * Counts the uses if `findLink` would still find the link and as many are left, and resolves to whether it
   * did: one guarded statement, so that `maxUses` is exact at any number of instances. (A drop is counted by its `commit`,
   * see `CommitUpload`.)
   */
  countUses(link: LinkKey, uses: Uses): Promise<boolean>

  /** Takes back uses that `countUses` has counted. Does nothing if there are fewer, or the link is gone. */
  returnUses(link: LinkKey, uses: Uses): Promise<void>

  /** Whether the garbage of the owner permits another drop, or another append to one. */
  permitsDrops(userId: UserId): Promise<boolean>
}
