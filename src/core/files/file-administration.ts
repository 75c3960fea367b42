import type { Version } from '../objects/object-key.ts'
import { type Caller, callerOf, userNotFound } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import type { Users } from '../users/users.ts'
import type { FileLedger } from './file-ledger.ts'
import type { FileDeletion } from './operation.ts'
import { type ListedFiles, type Listing, MAX_SCANNED_FILES } from './listing.ts'

/** What operators can do with users' files, also with those of a suspended user (docs/administration.md). */
export interface FileAdministration {
  /** All files, as `FileLedger.listFiles`. Rejects with `not_found` for an unknown or deleted user. */
  list(page: Listing): Promise<ListedFiles>

  /** As `FileLedger.deleteFile`: the user can follow it, and restore the file. Rejects also as `list` does. */
  remove(file: FileDeletion & { readonly userId: UserId }): Promise<Version>
}

export function createFileAdministration({
  users,
  ledger,
  garbageDelayMs,
}: {
  readonly users: Pick<Users, 'find'>
  readonly ledger: Pick<FileLedger, 'listFiles' | 'deleteFile'>
  readonly garbageDelayMs: number
}): FileAdministration {
  async function find(userId: UserId): Promise<Caller> {
    const { user } = await users.find(userId)
    if (user.status === 'deleted') throw userNotFound(userId)
    return callerOf(user)
  }

  return {
    async list(page) {
      const caller = await find(page.userId)
      const bounds = { audience: 'operator', maxScanned: MAX_SCANNED_FILES } as const
      return await ledger.listFiles({ ...page, ...caller, ...bounds })
    },
    async remove({ userId, name, precondition }) {
      const file = { ...(await find(userId)), name, precondition }
      return await ledger.deleteFile({ ...file, garbageDelayMs, byOperator: true })
    },
  }
}
