import type { UserId, UserIdPrefix } from './user-id.ts'
import type { DeviceUsage } from '../quota/device-usage.ts'
import type { Grant } from '../quota/grant-store.ts'
import type { User } from './user-store.ts'

/** The figures of an account, or of a device within its share, in bytes. */
export interface ByteUsage {
  /** Of an account: base capacity plus the current grants, at most 2^53 - 1. */
  readonly capacity: number
  readonly used: number
  /** Reserved by uploads in progress, on top of `used`. */
  readonly reserved: number
}

/** A user's figures at one moment. */
export interface Usage extends ByteUsage {
  readonly fileCount: number
}

export interface Account {
  readonly user: User
  readonly usage: Usage
}

/** The first one is the default. */
export const ACCOUNT_ORDERS = ['user_id', 'created_at', '-created_at'] as const

export type AccountPage = AccountsById | AccountsByCreation

interface AccountsById {
  readonly order?: 'user_id'
  readonly prefix: UserIdPrefix
  readonly after: UserId | undefined
  readonly limit: number
}

interface AccountsByCreation {
  readonly order: 'created_at' | '-created_at'
  readonly after: Pick<User, 'userId' | 'createdAt'> | undefined
  readonly limit: number
}

/** What the past versions of a user take; they count as neither used nor reserved. */
export interface HistoryFigures {
  /** In bytes; each version counts its size and 4 KiB. */
  readonly used: number
  /** In bytes. What exceeds it is purged, the oldest end first. */
  readonly allowance: number
  readonly count: number
  /** When the oldest version ended; `undefined` if there is none. */
  readonly oldestAt: number | undefined
}

export interface CapacityReport {
  readonly usage: Usage
  readonly history: HistoryFigures
  readonly baseCapacity: number
  /** The current grants, ordered by source and reference. */
  readonly grants: readonly Grant[]
  /** Ordered by id. */
  readonly devices: readonly DeviceUsage[]
}

/** PORT: users with their figures. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface AccountLedger {
  /** A user of any status with their figures, read in one statement; `undefined` for an unknown user. */
  findAccount(userId: UserId): Promise<Account | undefined>

  /** Users of any status, in the order and then of their ids bytewise, read in one statement. */
  listAccounts(page: AccountPage): Promise<readonly Account[]>

  /**
   * The user's capacity, grants and devices, read in one statement; `undefined` for a user who is unknown, deleted or
   * created at another time.
   */
  reportCapacity(userId: UserId, userCreatedAt?: number): Promise<CapacityReport | undefined>

  /** The devices of a user of any status, ordered by id, read in one statement. */
  reportDevices(userId: UserId): Promise<readonly DeviceUsage[]>
}
