import { type FileName, EVERY_NAME } from '../files/file-name.ts'
import type { Version } from '../objects/object-key.ts'
import type { CommittedUpload } from '../uploads/upload-ledger.ts'
import { type Caller, callerOf, inactiveUser, userNotFound } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import type { Users } from '../users/users.ts'
import type { EndPosition } from './history-ledger.ts'
import type { History, PastPage } from './history.ts'

/** What operators can do with users' past versions (docs/administration.md). */
export interface HistoryAdministration {
  /** As `History.list`. Rejects with `not_found` for an unknown or deleted user, and with `user_suspended`. */
  list(page: {
    readonly userId: UserId
    /** `undefined`: of any name. */
    readonly name: FileName | undefined
    readonly after: EndPosition | undefined
    readonly limit: number
  }): Promise<PastPage>

  /** As `History.restore`. Rejects as `list` does. */
  restore(version: {
    readonly userId: UserId
    readonly version: Version
    readonly name: FileName | undefined
    readonly overwrite: boolean
  }): Promise<CommittedUpload>
}

export function createHistoryAdministration({
  users,
  history,
}: {
  readonly users: Pick<Users, 'find'>
  readonly history: Pick<History, 'list' | 'restore'>
}): HistoryAdministration {
  async function find(userId: UserId): Promise<Caller> {
    const { user } = await users.find(userId)
    if (user.status === 'deleted') throw userNotFound(userId)
    if (user.status !== 'active') throw inactiveUser(user.status)
    return callerOf(user)
  }

  return {
    list: async ({ userId, ...page }) =>
      await history.list({ ...(await find(userId)), prefix: EVERY_NAME, ...page }),
    restore: async ({ userId, ...version }) => {
      const caller = { ...(await find(userId)), reverify: async () => undefined }
      return await history.restore({ ...caller, precondition: undefined, ...version })
    },
  }
}
