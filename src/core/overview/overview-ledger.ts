import type { Account } from '../users/account-ledger.ts'
import type { UserId } from '../users/user-id.ts'

/** Sums over users. Deleted ones are only counted as such. Bytes, unless a comment says otherwise. */
export interface Totals {
  /** Numbers of users. */
  readonly active: number
  readonly suspended: number
  /** Those that wait for their purge. */
  readonly deleted: number
  /** The number of files. */
  readonly files: number
  readonly used: number
  readonly reserved: number
  readonly garbage: number
  readonly history: number
  /** The number of past versions. */
  readonly versions: number
  /** The number of changes that no webhook has delivered yet. */
  readonly undelivered: number
}

export const NOTHING: Totals = {
  active: 0,
  suspended: 0,
  deleted: 0,
  files: 0,
  used: 0,
  reserved: 0,
  garbage: 0,
  history: 0,
  versions: 0,
  undelivered: 0,
}

export interface MeasuredUsers {
  readonly totals: Totals
  /** Those with files, the most bytes used first. */
  readonly largest: readonly Account[]
  /** Those with files, the largest share of the capacity used first. */
  readonly fullest: readonly Account[]
  /** Milliseconds since 1970 by the database's clock. */
  readonly at: number
  /** The last user of the page; `undefined` if there are no later ones. */
  readonly last: UserId | undefined
}

/** The figures at the beginning of a day. Days are milliseconds since 1970 at midnight UTC. */
export interface DailyUsage {
  readonly day: number
  /** The number of users that are not deleted, and of their files. */
  readonly users: number
  readonly files: number
  readonly used: number
}

/** PORT: the figures of all users together. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface OverviewLedger {
  /** Up to `limit` users after `after`, bytewise: their sums, and up to `top` of the largest and of the fullest ones. */
  measureUsers(page: {
    readonly after: UserId | undefined
    readonly limit: number
    readonly top: number
  }): Promise<MeasuredUsers>

  /** The current day by the database's clock, and the rows of it and of the `days - 1` before it, oldest first. */
  listDailyUsage(days: number): Promise<{
    readonly today: number
    readonly rows: readonly DailyUsage[]
  }>

  /** Does nothing if the day has a row. Deletes the rows of more than `keptDays` before it. */
  recordDailyUsage(record: { readonly usage: DailyUsage; readonly keptDays: number }): Promise<void>
}
