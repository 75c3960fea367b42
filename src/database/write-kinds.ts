import type { FileOperation } from '../core/files/operation.ts'
import type { LedgerSpace, LedgerWrite, WriteKind } from '../core/uploads/ledger-space.ts'
import type { UserStore } from '../core/users/user-store.ts'
import type { Ledger } from './ledger/ledger.ts'

type CallKind<A extends readonly unknown[] = never[]> = (...args: A) => LedgerWrite

/** A function of the arguments if they decide the kind, or if a call can change many rows. */
type Classification<M extends (...args: never[]) => unknown> = WriteKind | CallKind<Parameters<M>>

type Classified<P extends Record<keyof P, (...args: never[]) => unknown>> = {
  readonly [M in keyof P]: Classification<P[M]>
}

/**
 * What each method does to the disk of the database. A method without a kind does not compile. On SQLite, all methods
 * but `reads` run on the writer thread, and `core/uploads/ledger-space.ts` refuses those that must leave the rest of the
 * disk to others.
 */
export const WRITE_KINDS = {
  ledger: {
    // Of uploads. Their bytes have a floor of their own, which is higher (`core/uploads/free-space.ts`).
    checkBegin: 'reads',
    begin: 'grows',
    extend: 'frees',
    renew: 'frees',
    commit: 'grows',
    abort: 'frees',
    endLeases: 'frees',
    listPendingUploads: 'reads',
    createResumable: 'grows',
    findResumable: 'reads',
    findVersion: 'reads',
    listResumables: 'reads',
    measureUnfinished: 'reads',
    prepareAppend: 'frees',
    claimAppend: 'grows',
    claimFinish: 'frees',
    // Of bytes that the store has already.
    recordAppend: 'frees',
    endFinish: 'frees',
    listPieces: 'reads',
    askToStop: 'frees',
    listAskedToStop: 'reads',
    fence: 'frees',
    confirm: 'reads',

    findFile: 'reads',
    listFiles: 'reads',
    selectFiles: 'reads',
    deleteFile: 'ends',
    updateFile: 'grows',
    changeFiles: ({ operations }) => ({
      kind: operations.every(isDeletion) ? 'ends' : 'grows',
      rows: operations.reduce((sum, operation) => sum + rowsOf(operation), 0),
    }),

    listHistory: 'reads',
    findPastVersion: 'reads',
    restoreVersion: 'grows',
    dropVersion: 'frees',
    dropHistory: 'frees',
    listUsersToTrim: 'reads',
    trimHistory: 'frees',

    addLink: 'grows',
    findLink: 'reads',
    listLinks: 'reads',
    removeLink: 'frees',
    countUses: 'frees',
    returnUses: 'frees',
    permitsDrops: 'reads',

    findAccount: 'reads',
    listAccounts: 'reads',
    reportCapacity: 'reads',

    listExpiredUploads: 'reads',
    listAbortedUploads: 'reads',
    noteAbortedRemovals: 'frees',
    listEndedDrops: 'reads',
    listUsersWithExpired: 'reads',
    expireFiles: ({ limit }) => ({ kind: 'ends', rows: limit }),
    forgetUploads: 'frees',
    forgetChanges: 'frees',
    listGarbage: 'reads',
    noteGarbageRemovals: 'frees',
    findUserToPurge: 'reads',
    purgeDeletedUsers: 'frees',
    // Asks the writer thread, and tests whether it can write after it could not.
    check: 'frees',
    readClock: 'reads',
    // The sweep has to trust its clock before it removes anything.
    storeClock: 'frees',
    pullBack: 'frees',
    measureBacklog: 'reads',
    measureJournal: 'reads',
    acquireLeaderLease: 'frees',
    releaseLeaderLease: 'frees',

    readChanges: 'reads',
    latestChange: 'reads',
    latestSequences: 'reads',
    readGrantClock: 'reads',
    listGrantTurns: 'reads',
    noteCapacity: 'grows',
    advanceGrantClock: 'frees',

    listDueWebhooks: 'reads',
    readUndelivered: 'reads',
    // Parks at most one event of each user in 24 hours. If it were refused, the event would be sent again and again.
    settleWebhooks: 'frees',
    listParked: 'reads',
    findParked: 'reads',
    deleteParked: 'frees',
    measureWebhooks: 'reads',

    measureUsers: 'reads',
    listDailyUsage: 'reads',
    // One row a day.
    recordDailyUsage: 'frees',
    // Of operators, who must be able to look for what they delete. An action that is refused is not recorded.
    recordOperatorAction: 'frees',
    listOperatorActions: 'reads',
    forgetOperatorActions: 'frees',
  },
  users: {
    createUser: 'grows',
    findUser: 'reads',
    setUserStatus: 'frees',
    deleteUser: 'frees',
    addAccessToken: 'grows',
    findAccessTokenUser: 'reads',
    recordAccessTokenUses: 'frees',
    listAccessTokens: 'reads',
    revokeAccessToken: 'frees',
    putGrant: 'grows',
    revokeGrant: 'frees',
    hasDevice: 'reads',
    listGrants: 'reads',
  },
} as const satisfies {
  readonly ledger: Classified<Ledger>
  readonly users: Classified<UserStore>
}

export type WrittenPort = keyof typeof WRITE_KINDS

type Method = (...args: readonly unknown[]) => Promise<unknown>

/** A method that writes, and what a call of it writes, by its arguments. */
interface Write {
  readonly method: string
  readonly call: Method
  readonly writeOf: (...args: readonly unknown[]) => LedgerWrite
}

/** The port with each method that writes replaced. */
export function mapWrites<P extends object>(
  { name, port }: { readonly name: WrittenPort; readonly port: P },
  replace: (write: Write) => Method,
): P {
  const methods = Object.entries<Method>({ ...port } as Record<string, Method>)
  const mapped = methods.map(([method, call]): [string, Method] => {
    const write = writeOf(name, method)
    return [method, write === undefined ? call : replace({ method, call, writeOf: write })]
  })
  return Object.fromEntries(mapped) as P
}

/** Has every write of the port ask `space` first. */
export function guardWrites<P extends object>(name: WrittenPort, port: P, space: LedgerSpace): P {
  return mapWrites({ name, port }, ({ call, writeOf: write }) => {
    return (...args) => space.run(write(...args), () => call(...args))
  })
}

/** What a call of this method writes, by its arguments; `undefined` if the method only reads. */
export function writeOf(
  port: WrittenPort,
  method: string,
): ((...args: readonly unknown[]) => LedgerWrite) | undefined {
  const kinds: Readonly<Record<string, WriteKind | CallKind>> = WRITE_KINDS[port]
  const kind = kinds[method]
  if (kind === undefined)
    throw new TypeError(`The method ${method} of ${port} has no kind of write`)
  if (kind === 'reads') return undefined
  if (typeof kind === 'function') return (...args) => kind(...(args as never[]))
  const write = { kind, rows: 1 }
  return () => write
}

/** Two if the operation can end another file, or move the row of its own in all indexes. */
function rowsOf(operation: FileOperation): number {
  if (operation.op === 'delete') return 1
  return operation.op === 'update' && operation.newName === undefined ? 1 : 2
}

function isDeletion({ op }: FileOperation): boolean {
  return op === 'delete'
}
