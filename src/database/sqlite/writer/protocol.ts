import type { Ledger } from '../../../core/ledger/ledger.ts'
import type { UserStore } from '../../../core/users/user-store.ts'
import type { SerializedError } from './serialized-error.ts'

export interface WriterSettings {
  readonly file: string
  readonly baseCapacity: number
  /** Milliseconds since 1970 in shared memory, for tests; the system clock by default. */
  readonly clock?: BigInt64Array | undefined
}

type LedgerRead =
  | 'listFiles'
  | 'findFile'
  | 'checkBegin'
  | 'confirm'
  | 'findAccount'
  | 'listAccounts'
  | 'reportCapacity'
  | 'listExpiredUploads'
  | 'listPendingUploads'
  | 'findUserToPurge'
  | 'listAbortedUploads'
  | 'listGarbage'
  | 'measureBacklog'
  | 'measureJournal'
  | 'findResumable'
  | 'findVersion'
  | 'listResumables'
  | 'measureUnfinished'
  | 'listPieces'
  | 'listAskedToStop'

type UserRead = 'findUser' | 'findAccessTokenUser' | 'listAccessTokens' | 'listGrants'

/** Methods that run on the writer thread: all writes and the health check. Methods not listed as reads belong here. */
export interface WriterPorts {
  readonly ledger: Omit<Ledger, LedgerRead>
  readonly users: Omit<UserStore, UserRead>
}

export type WriterMessage = readonly WriterCall[] | 'close'

export interface WriterCall {
  readonly id: number
  readonly port: keyof WriterPorts
  readonly method: string
  readonly args: readonly unknown[]
  /** Milliseconds since 1970 until which the caller waits. */
  readonly until: number
}

export type WriterAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SerializedError }
