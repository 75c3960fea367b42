import type { Caller } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import type { Change, ChangePosition } from './change.ts'

/** `previousAt` is the time of the change before it, 0 if there is none. */
export type RecordedChange = Change & { readonly previousAt: number }

export interface ChangesRead {
  /** The position of the account's newest change. */
  readonly latest: ChangePosition
  /** Those after the requested one, in order. The oldest ones can be missing: rows are kept for a limited time. */
  readonly changes: readonly RecordedChange[]
}

/**
 * PORT: the changes of each account, recorded by the transactions that make them. As every part of the ledger, it keeps
 * the contract of `UploadLedger`.
 */
export interface ChangeLedger {
  /**
   * One snapshot. All changes in it are confirmed: no failover undoes them. `undefined` for a user who is unknown,
   * suspended or deleted.
   */
  readChanges(
    page: Caller & { readonly after: number; readonly limit: number },
  ): Promise<ChangesRead | undefined>

  /** The position of the newest change; `undefined` as for `readChanges`. Shown before it is confirmed. */
  latestChange(caller: Caller): Promise<ChangePosition | undefined>

  /** The sequence of the newest change of each of these users, at most 1000; unknown users are left out. */
  latestSequences(userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, number>>
}
