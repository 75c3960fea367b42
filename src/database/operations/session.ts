import { FairSemaphore } from '../../core/async/fair-semaphore.ts'
import type { AccountLimits } from '../../core/quota/shares.ts'
import type { EndPosition } from '../../core/history/history-ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Database } from '../database.ts'
import { createCompiler, PREPARED } from '../statement.ts'
import { tooLate } from '../repeats.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import { createBatcher, createBatchLocks } from './batcher.ts'
import { capacityInForce, type LedgerTx } from '../ledger/ledger-sql.ts'
import { type OwnTimes, timesOf } from '../ledger/times.ts'
import { UnfinishedSearches } from '../ledger/unfinished-searches.ts'

type Work<T> = (tx: LedgerTx) => Promise<T>

/** How the parts of the ledger reach the database. */
export type Session = ReturnType<typeof createSession>

const MAX_PASSED_OVER = 1_000

/** Equals the default wait for a connection. */
const QUEUE_TIMEOUT_MS = 10_000

const NO_LIMITS: AccountLimits = {
  maxFiles: Number.MAX_SAFE_INTEGER,
  maxUploads: Number.MAX_SAFE_INTEGER,
  maxUnfinished: Number.MAX_SAFE_INTEGER,
}

export interface LedgerOptions {
  readonly baseCapacity: number
  /** Whether changes and purges are to be delivered by webhooks; false by default. */
  readonly queuesWebhooks?: boolean | undefined
  /** How long replaced and deleted files are kept; 0, the default, keeps none. */
  readonly historyLifetimeMs?: number | undefined
  /** The allowance for them, in per cent of the capacity. */
  readonly historyShare?: number | undefined
  /** There is no limit of a kind that is left out. */
  readonly limits?: Partial<AccountLimits> | undefined
  readonly times?: OwnTimes | undefined
}

export function createSession(database: Database, options: LedgerOptions) {
  const { baseCapacity, queuesWebhooks = false, historyLifetimeMs = 0 } = options
  const historyShare = historyLifetimeMs > 0 ? (options.historyShare ?? 0) : 0
  const { kysely, now, forUpdate, indexOf, keepIndexOrder, textList, changesPerUser } = database
  const capacity = capacityInForce(now, baseCapacity)
  const context = {
    now,
    capacity,
    queuesWebhooks,
    historyLifetimeMs,
    historyShare,
    limits: { ...NO_LIMITS, ...options.limits },
    times: timesOf(options.times),
    textList,
  }
  const compile = createCompiler(kysely, context)
  const memory = {
    searches: new UnfinishedSearches(),
    passedOver: new BoundedMap<UserId, EndPosition>(MAX_PASSED_OVER),
  }
  const common = {
    ...context,
    ...memory,
    forUpdate,
    indexOf,
    baseCapacity,
    compile,
    keepIndexOrder,
  }
  const txOn = (db: LedgerTx['db']): LedgerTx => ({
    ...common,
    db,
    execute: (statement) => db.executeQuery(statement),
  })
  const { executeInTransaction } = database
  const inTransaction = (db: LedgerTx['db']): LedgerTx =>
    executeInTransaction === undefined
      ? txOn(db.withPlugin(PREPARED))
      : { ...common, db, execute: executeInTransaction }
  const outside = txOn(kysely)
  const outsidePrepared = txOn(kysely.withPlugin(PREPARED))
  const queueTimeoutMs = QUEUE_TIMEOUT_MS
  const late = { ms: queueTimeoutMs, error: () => tooLate(queueTimeoutMs) }
  const changes = new FairSemaphore({ permits: Infinity, perOwner: changesPerUser })
  /**
   * Runs the changes of a user in call order, `changesPerUser` at a time: without a limit, those of one user would hold
   * every connection while they wait for the user's row. Rejects with `unavailable` after `queueTimeoutMs`.
   */
  const inOrder = <T>(owner: UserId, work: () => Promise<T>) => changes.run({ owner, late }, work)
  const { runBatch } = database
  return {
    database,
    context,
    /** `undefined` if statements need no network round trip. */
    batcher:
      runBatch &&
      createBatcher({ runBatch, locks: createBatchLocks(kysely), inOrder, queueTimeoutMs }),
    /**
     * Runs one transaction, durable when it resolves. On SQLite it shares a COMMIT with others, on the writer thread
     * (`sqlite/group-commit.ts`); that of PostgreSQL, on the main thread, is in `postgres/connection.ts`.
     */
    transaction: <T>(work: Work<T>) => database.transaction((db) => work(txOn(db))),
    /** As `transaction`, in order with the user's other changes. Its statements are prepared. */
    change: <T>(userId: UserId, work: Work<T>) =>
      inOrder(userId, () => database.transaction((db) => work(inTransaction(db)), userId)),
    /** As `change`, for statements of any number of rows: none is prepared. */
    changeRows: <T>(userId: UserId, work: Work<T>) =>
      inOrder(userId, () => database.transaction((db) => work(txOn(db)))),
    /** Runs statements outside a transaction. */
    query: <T>(work: Work<T>) => database.query(() => work(outside)),
    /** As `query`, for frequent statements, which are prepared. */
    queryPrepared: <T>(work: Work<T>) => database.query(() => work(outsidePrepared)),
    /** Reads a page in index order. */
    readInOrder: <T>(work: Work<T>) => database.readInOrder((db) => work(txOn(db))),
  }
}
