import { EVERY_NAME } from '../files/file-name.ts'
import type { FileLedger } from '../files/file-ledger.ts'
import { type ListedFiles, type Listing, MAX_SCANNED_FILES } from '../files/listing.ts'
import type { FileDeletion, VersionRestore } from '../files/operation.ts'
import type { ListPast } from '../history/history-ledger.ts'
import type { History, PastPage } from '../history/history.ts'
import type { Link } from '../links/link.ts'
import type { LinkLedger } from '../links/link-ledger.ts'
import type { LinkPage } from '../links/links.ts'
import type { Version } from '../objects/object-key.ts'
import type { CommittedUpload } from '../uploads/upload-ledger.ts'
import { type Caller, callerOf, inactiveUser, userNotFound } from './caller.ts'
import type { UserId } from './user-id.ts'
import type { Users } from './users.ts'

/**
 * What operators can do with what users have (docs/administration.md). Everything rejects with `not_found` for an unknown
 * or deleted user, and, unless noted, with `user_suspended`.
 */
export type UserAdministration = ReturnType<typeof createUserAdministration>

export function createUserAdministration({
  users,
  ledger,
  history,
}: {
  readonly users: Pick<Users, 'find'>
  readonly ledger: Pick<FileLedger, 'listFiles' | 'deleteFile'> &
    Pick<LinkLedger, 'listLinks' | 'removeLink'>
  readonly history: Pick<History, 'list' | 'restore'>
}) {
  async function find(userId: UserId, mayBeSuspended = false): Promise<Caller> {
    const { user } = await users.find(userId)
    if (user.status === 'deleted') throw userNotFound(userId)
    if (user.status === 'suspended' && !mayBeSuspended) throw inactiveUser(user.status)
    return callerOf(user)
  }

  return {
    /** All files, as `FileLedger.listFiles`, also of a suspended user. */
    async listFiles(page: Listing): Promise<ListedFiles> {
      const caller = await find(page.userId, true)
      const bounds = { audience: 'operator', maxScanned: MAX_SCANNED_FILES } as const
      return await ledger.listFiles({ ...page, ...caller, ...bounds })
    },

    /** As `FileLedger.deleteFile`, also of a suspended user: the user can follow it, and restore the file. */
    async removeFile(userId: UserId, { name, precondition }: FileDeletion): Promise<Version> {
      const file = { ...(await find(userId, true)), name, precondition }
      return await ledger.deleteFile({ ...file, byOperator: true })
    },

    /** As `History.list`. */
    async listHistory(
      userId: UserId,
      { name, after, limit }: Pick<ListPast, 'name' | 'after' | 'limit'>,
    ): Promise<PastPage> {
      const caller = await find(userId)
      return await history.list({ ...caller, name, prefix: EVERY_NAME, after, limit })
    },

    /** As `History.restore`. */
    async restoreVersion(
      userId: UserId,
      { version, name, overwrite }: VersionRestore,
    ): Promise<CommittedUpload> {
      const reverify = async (): Promise<void> => undefined
      const caller = { ...(await find(userId)), credential: undefined, reverify }
      return await history.restore({ ...caller, version, name, overwrite })
    },

    /** The user's links, oldest first, with those that have ended. */
    async listLinks(userId: UserId, { after, limit }: LinkPage): Promise<readonly Link[]> {
      const caller = await find(userId)
      return await ledger.listLinks({ ...caller, tokenId: undefined, after, limit })
    },

    /** Guarantees that every instance refuses the link. Rejects with `not_found`. */
    async revokeLink(userId: UserId, linkId: string): Promise<void> {
      await ledger.removeLink({ ...(await find(userId)), tokenId: undefined, linkId })
    },
  }
}
