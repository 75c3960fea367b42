import type { UserId } from '../users/user-id.ts'
import { findActive, type Users } from '../users/users.ts'
import type { Link } from './link.ts'
import type { LinkLedger } from './link-ledger.ts'
import type { LinkPage } from './links.ts'

/** What operators can do with users' links (docs/administration.md). Both reject as `findActive` does. */
export interface LinkAdministration {
  /** The user's links, oldest first, with those that have ended. */
  list(userId: UserId, page: LinkPage): Promise<readonly Link[]>

  /** Guarantees that every instance refuses the link. Rejects with `not_found`. */
  revoke(link: { readonly userId: UserId; readonly linkId: string }): Promise<void>
}

export function createLinkAdministration({
  users,
  ledger,
}: {
  readonly users: Pick<Users, 'find'>
  readonly ledger: Pick<LinkLedger, 'listLinks' | 'removeLink'>
}): LinkAdministration {
  return {
    async list(userId, page) {
      const { userCreatedAt } = await findActive(users, userId)
      const { after, limit } = page
      return await ledger.listLinks({ userId, userCreatedAt, tokenId: undefined, after, limit })
    },

    async revoke({ userId, linkId }) {
      const { userCreatedAt } = await findActive(users, userId)
      await ledger.removeLink({ userId, userCreatedAt, tokenId: undefined, linkId })
    },
  }
}
