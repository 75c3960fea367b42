import { type FileName, EVERY_NAME } from '../files/file-name.ts'
import type { Version } from '../objects/object-key.ts'
import type { CommittedUpload } from '../uploads/upload-ledger.ts'
import type { UserId } from '../users/user-id.ts'
import { findActive, type Users } from '../users/users.ts'
import type { EndPosition } from './history-ledger.ts'
import type { History, PastPage } from './history.ts'

/** What operators can do with users' past versions (docs/administration.md). Both reject as `findActive` does. */
export interface HistoryAdministration {
  /** As `History.list`. */
  list(page: {
    readonly userId: UserId
    /** `undefined`: of any name. */
    readonly name: FileName | undefined
    readonly after: EndPosition | undefined
    readonly limit: number
  }): Promise<PastPage>

  /** As `History.restore`. */
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
  return {
    list: async ({ userId, name, after, limit }) => {
      const { userCreatedAt } = await findActive(users, userId)
      return await history.list({ userId, userCreatedAt, name, prefix: EVERY_NAME, after, limit })
    },
    restore: async ({ userId, version, name, overwrite }) => {
      const { userCreatedAt } = await findActive(users, userId)
      const reverify = async (): Promise<void> => undefined
      const caller = { userId, userCreatedAt, credential: undefined, reverify }
      return await history.restore({ ...caller, version, name, overwrite })
    },
  }
}
