import type { LedgerOptions } from '../../ledger/session.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { UserStore } from '../../../core/users/user-store.ts'

export interface WriterSettings extends LedgerOptions {
  readonly file: string
  /** Milliseconds since 1970 in shared memory, for tests; the system clock by default. */
  readonly clock?: BigInt64Array | undefined
}

/** Methods that only read. All others, and the health check, run on the writer thread. */
export const READS = {
  ledger: [
    'listFiles',
    'findFile',
    'selectFiles',
    'checkBegin',
    'confirm',
    'findAccount',
    'listAccounts',
    'reportCapacity',
    'listExpiredUploads',
    'listPendingUploads',
    'listHistory',
    'findPastVersion',
    'findLink',
    'listLinks',
    'permitsDrops',
    'listEndedDrops',
    'listUsersToTrim',
    'listUsersWithExpired',
    'listUnmarked',
    'findUserToPurge',
    'listAbortedUploads',
    'listGarbage',
    'readClock',
    'measureBacklog',
    'measureJournal',
    'findResumable',
    'findVersion',
    'listResumables',
    'measureUnfinished',
    'listPieces',
    'listAskedToStop',
    'readChanges',
    'latestChange',
    'latestSequences',
    'readGrantClock',
    'listGrantTurns',
    'listDueWebhooks',
    'readUndelivered',
    'listParked',
    'findParked',
    'measureWebhooks',
    'measureUsers',
    'listDailyUsage',
    'listOperatorActions',
  ],
  users: ['findUser', 'findAccessTokenUser', 'hasDevice', 'listAccessTokens', 'listGrants'],
} as const satisfies {
  readonly ledger: readonly (keyof Ledger)[]
  readonly users: readonly (keyof UserStore)[]
}

/** A call of a port's method. */
export interface WriterCall {
  readonly port: keyof typeof READS
  readonly method: string
  readonly args: readonly unknown[]
}
