import type { Ledger } from '../../ledger/ledger.ts'
import type { UserStore } from '../../../core/users/user-store.ts'
import type { SerializedError } from './serialized-error.ts'

export interface WriterSettings {
  readonly file: string
  readonly baseCapacity: number
  /** Milliseconds since 1970 in shared memory, for tests; the system clock by default. */
  readonly clock?: BigInt64Array | undefined
}

/** Methods that only read. All others, and the health check, run on the writer thread. */
export const READS = {
  ledger: [
    'listFiles',
    'findFile',
    'checkBegin',
    'confirm',
    'findAccount',
    'listAccounts',
    'reportCapacity',
    'listExpiredUploads',
    'listPendingUploads',
    'findUserToPurge',
    'listAbortedUploads',
    'listGarbage',
    'measureBacklog',
    'measureJournal',
    'findResumable',
    'findVersion',
    'listResumables',
    'measureUnfinished',
    'listPieces',
    'listAskedToStop',
  ],
  users: ['findUser', 'findAccessTokenUser', 'listAccessTokens', 'listGrants'],
} as const satisfies {
  readonly ledger: readonly (keyof Ledger)[]
  readonly users: readonly (keyof UserStore)[]
}

export type WriterMessage = readonly WriterCall[] | 'close'

export interface WriterCall {
  readonly id: number
  readonly port: keyof typeof READS
  readonly method: string
  readonly args: readonly unknown[]
  /** Milliseconds since 1970 until which the caller waits. */
  readonly until: number
}

export type WriterAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SerializedError }
