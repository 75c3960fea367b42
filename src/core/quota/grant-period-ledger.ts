import type { UserId } from '../users/user-id.ts'

/** PORT: noticing that grants have begun or ended. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface GrantPeriodLedger {
  /** The period whose starts and ends of grants may not have been noticed yet. */
  readGrantClock(): Promise<GrantPeriod>

  /** Up to `limit` starts or ends after `after` and up to `to`, ordered by time and user. */
  listGrantBoundaries(page: {
    readonly kind: GrantBoundaryKind
    readonly after: GrantBoundary
    readonly to: number
    readonly limit: number
  }): Promise<readonly GrantBoundary[]>

  /**
   * Records a change if the capacity of the user has another state than was last recorded, or, if none was, than at
   * `since`. Takes the user's lock.
   */
  noteCapacity(user: { readonly userId: UserId; readonly since: number }): Promise<void>

  /** Guarantees that the next period begins shortly before this time. */
  advanceGrantClock(to: number): Promise<void>
}

export type GrantBoundaryKind = 'starts' | 'ends'

/** A grant of the user begins or ends. */
export interface GrantBoundary {
  /** Milliseconds since 1970 by the database's clock. */
  readonly at: number
  readonly userId: UserId
}

/** Milliseconds since 1970 by the database's clock: after `from`, up to `to`. */
export interface GrantPeriod {
  readonly from: number
  readonly to: number
}
