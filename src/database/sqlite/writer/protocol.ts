import type { Ledger } from '../../../core/ledger/ledger.ts'
import type { UserStore } from '../../../core/users/user-store.ts'
import type { SerializedError } from './serialized-error.ts'

/** What the writer thread opens its database with. */
export interface WriterSettings {
  /** Path of the database file, which is migrated. */
  readonly file: string
  /** What every user has without any grant, in bytes. */
  readonly baseCapacity: number
  /** Milliseconds since 1970 in shared memory, for tests; the machine's clock when left out. */
  readonly clock?: BigInt64Array | undefined
}

/** What runs where requests are answered. */
type LedgerRead =
  | 'listFiles'
  | 'findFile'
  | 'countUploads'
  | 'checkBegin'
  | 'usage'
  | 'findAccount'
  | 'listAccounts'
  | 'reportCapacity'
  | 'listExpiredUploads'
  | 'findUserToPurge'
  | 'listAbortedUploads'
  | 'listGarbage'
  | 'measureBacklog'
  | 'measureJournal'

type UserRead =
  | 'findUser'
  | 'findAccessTokenUser'
  | 'findAccessTokenUsers'
  | 'listAccessTokens'
  | 'listGrants'

/** What runs on the writer thread: all writes, and the health check. A method that is not named as a read is one of them. */
export interface WriterPorts {
  readonly ledger: Omit<Ledger, LedgerRead>
  readonly users: Omit<UserStore, UserRead>
}

/** What goes to the thread. */
export type WriterMessage = readonly WriterCall[] | 'close'

export interface WriterCall {
  readonly id: number
  readonly port: keyof WriterPorts
  readonly method: string
  readonly args: readonly unknown[]
  /** Milliseconds since 1970; then nobody waits for it any more. */
  readonly until: number
}

/** How a call ended. What comes from the thread is a list of these. */
export type WriterAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SerializedError }
