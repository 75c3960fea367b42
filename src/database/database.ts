import { setTimeout } from 'node:timers/promises'
import type {
  CompiledQuery,
  Kysely,
  QueryExecutorProvider,
  QueryResult,
  RawBuilder,
  Transaction,
} from 'kysely'
import { confirmRefusal } from '../core/async/confirm-refusal.ts'
import { shareRuns } from '../core/async/shared-run.ts'
import { createLockWaits } from './lock-waits.ts'
import type { MigrationIndex } from './migrations/index-definition.ts'
import { type Repeats, withRepeats } from './repeats.ts'
import type { Tables } from './schema.ts'
import { NOBODY, TimeShares } from '../core/async/time-shares.ts'

export interface Database extends EngineParts {
  /** Runs statements outside a transaction. Repeats `work`, and rejects, as `transaction` does. */
  query<T>(work: (kysely: Kysely<Tables>) => Promise<T>): Promise<T>

  /** Like `query`, but for statements that read a page in index order. See `keepIndexOrder`. */
  readInOrder<T>(work: (kysely: Kysely<Tables>) => Promise<T>): Promise<T>

  /**
   * Guarantees that all of `work` is durable when it resolves. `work` contains only SQL: it restarts after a
   * serialization failure or deadlock, at most `MAX_REPEATS` times, and for `LOCK_TIMEOUT_MS` while SQLite, or a row in
   * PostgreSQL, is locked. Waiting for a row holds no connection for longer than `LOCK_WAIT_MS`.
   * Rejects with the `AppError` that `work` threw, after the rollback and `confirm`; with `unavailable` when the
   * database failed, which leaves the outcome of a running commit unknown; with any other error unchanged.
   * `by` is the user whose time it takes: users share the time of the database (`core/async/time-shares.ts`).
   */
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>, by?: string): Promise<T>

  /**
   * Guarantees that all changes that a read before the call has seen are as durable as if this process had committed
   * them. After a crash, a PostgreSQL primary shows commits that no synchronous standby has confirmed; a failover
   * undoes them. Nothing that a client may take for an acknowledgement may rest on such a read alone: not an offset,
   * and not a refusal such as "the file exists". Rejects with `unavailable`.
   */
  confirm(): Promise<void>

  /** After a disk-full error, runs the write `probe` and rejects like `query` until it succeeds. Otherwise a no-op. */
  proveWritable(probe: (kysely: Kysely<Tables>) => Promise<unknown>): Promise<void>

  close(): Promise<void>
}

/** A snapshot of a pool. `waiting` counts callers; the other members count connections. */
export interface PoolUsage {
  readonly limit: number
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

export interface Fragments {
  /** Milliseconds since 1970 by the database's clock; each occurrence is evaluated once. */
  readonly now: RawBuilder<number>
  /** Ends a SELECT to lock its rows until the transaction ends; `undefined` if the transaction locks the database. */
  readonly forUpdate: RawBuilder<unknown> | undefined
  readonly bytewise: RawBuilder<unknown>
  /** SQL for where `part` begins in `text`, in characters from 1; 0 if it is not there. */
  readonly indexOf: (text: RawBuilder<unknown>, part: RawBuilder<unknown>) => RawBuilder<number>
  readonly textList: TextList
  /** Ends a CREATE TABLE whose rows are found only by their primary key, and stored in it if the engine can do that. */
  readonly clustered: RawBuilder<unknown>
}

/** Any number of texts as one value, so that a statement is the same for all numbers. */
export interface TextList {
  /** SQL for whether the list has the text of the column. */
  readonly has: (list: RawBuilder<unknown>, column: RawBuilder<unknown>) => RawBuilder<boolean>
  readonly valueOf: (texts: readonly string[]) => unknown
}

/** `when` and `statement` are SQL that both engines accept, with the row as `NEW` or `OLD`. */
export interface RowTrigger {
  readonly name: string
  readonly event: string
  readonly when: string
  readonly statement: string
}

/** Runs `work` in a transaction that is durable when it resolves; rejects with the error of `work` or the database. */
export type Transact = <T>(work: (tx: Transaction<Tables>) => Promise<T>, by?: string) => Promise<T>

export type Execute = <R>(statement: CompiledQuery<R>) => Promise<QueryResult<R>>

export interface Batch {
  /** Locks rows until the transaction ends. If it returns no row, nothing else is sent. */
  readonly lock: CompiledQuery
  /** Whose time it takes. */
  readonly users?: readonly string[] | undefined
  /** `lock` waits for rows that were found locked. */
  readonly waits?: boolean | undefined
  /** Called again on a repeat. Each statement takes effect entirely or not at all, whatever the others return. */
  readonly take: (locked: readonly unknown[]) => readonly CompiledQuery[]
}

/** Durable when it resolves; `undefined` if nothing took effect. Does not await one statement before the next. */
export type RunBatch = (batch: Batch) => Promise<readonly QueryResult<unknown>[] | undefined>

/** What a migration alongside requests needs. */
export interface OnlineMigration {
  /** Builds missing and unfinished indexes of existing tables alongside requests. Must not run in a transaction. */
  readonly buildIndexes: (db: Kysely<Tables>, indexes: readonly MigrationIndex[]) => Promise<void>
  /** Locks all tables until the transaction ends. */
  readonly lockTables: (db: QueryExecutorProvider) => Promise<void>
}

interface EngineParts extends Fragments {
  /** For tests, migrations and compiling statements; everything else uses `query` and `transaction`. */
  readonly kysely: Kysely<Tables>
  readonly createTrigger: (trigger: RowTrigger) => readonly RawBuilder<unknown>[]
  /**
   * Runs a statement in the open transaction, past Kysely's queue, which takes about as long as a small statement of
   * SQLite. Never for use outside of a transaction: it would see what others have not committed.
   */
  readonly executeInTransaction?: Execute
  /** `undefined` if statements need no network round trip. */
  readonly runBatch: RunBatch | undefined
  /** Precedes an index-order read in its transaction: with stale statistics the planner would sort a million files. */
  readonly keepIndexOrder: RawBuilder<unknown> | undefined
  /** The number of concurrent changes of one user that help. More would only delay other users. */
  readonly changesPerUser: number
  /** Migrates alongside requests, in one instance at a time; `undefined` if migrations are exclusive anyway. */
  readonly migrateAlone:
    | (<T>(work: (kysely: Kysely<Tables>, online: OnlineMigration) => Promise<T>) => Promise<T>)
    | undefined
  /** `undefined` if the engine has no pool. */
  readonly connections: (() => PoolUsage) | undefined
  /**
   * Bytes of free pages inside the file, which never shrinks, less those by which the next checkpoint of the log makes it
   * grow; `undefined` if a server stores the data.
   */
  readonly measureFreePages: (() => Promise<number>) | undefined
  /** Writes a consistent copy to an existing empty file; `undefined` if the engine has its own backup tools. */
  readonly copyTo: ((file: string) => Promise<void>) | undefined
}

export interface Engine extends EngineParts, Repeats {
  /** A statement whose end waits until all earlier commits are confirmed; `undefined` if reads see no others. */
  readonly confirmation: RawBuilder<unknown> | undefined
  readonly transact?: Transact
  readonly release: () => Promise<void>
}

export function createDatabase(engine: Engine): Database {
  const { classify, lockTimeoutMs, release, transact, confirmation, ...parts } = engine
  const { kysely, runBatch, keepIndexOrder, migrateAlone, connections } = parts
  let isFull = false
  const shares = new TimeShares()
  const lanes = connections && createLockWaits(connections().limit)
  const repeats: Repeats = {
    lockTimeoutMs,
    lockedLane: lanes?.waits(NOBODY),
    classify(error) {
      const fault = classify(error)
      if (fault === 'full') isFull = true
      return fault
    },
  }
  const confirm =
    confirmation === undefined
      ? async () => undefined
      : // However many clients are refused at once, the database gets one statement at a time for them.
        shareRuns(() => withRepeats(() => confirmation.execute(kysely), repeats))
  const query: Database['query'] = (work) =>
    confirmRefusal(
      withRepeats(() => work(kysely), repeats),
      confirm,
    )
  const attempt: Transact =
    transact ?? charging((work) => kysely.transaction().execute(work), shares)
  const transaction: Database['transaction'] = async (work, by = NOBODY) => {
    // Before it takes a lane, which others would wait for.
    await pauseOf(by, shares)
    return await confirmRefusal(
      withRepeats(() => attempt(work, by), {
        ...repeats,
        lane: lanes?.mayWait(by),
        lockedLane: lanes?.waits(by),
      }),
      confirm,
    )
  }
  return {
    ...parts,
    migrateAlone: migrateAlone && ((work) => withRepeats(() => migrateAlone(work), repeats)),
    runBatch:
      runBatch &&
      (async (batch) => {
        const began = performance.now()
        const { users = [] } = batch
        const lane = batch.waits === true ? lanes?.waits(users[0] ?? NOBODY) : undefined
        const answers = await withRepeats(() => runBatch(batch), { ...repeats, lane })
        for (const by of users) shares.note(by, performance.now() - began)
        return answers
      }),
    query,
    transaction,
    confirm,
    readInOrder: (work) =>
      keepIndexOrder === undefined
        ? query(work)
        : // A read waits for no row, so it needs no lane.
          withRepeats(
            () =>
              attempt(async (tx) => {
                await keepIndexOrder.execute(tx)
                return await work(tx)
              }),
            repeats,
          ),
    async proveWritable(probe) {
      if (!isFull) return
      await query(probe)
      isFull = false
    },
    close: async () => {
      await kysely.destroy()
      await release()
    },
  }
}

/** A long transaction has taken a processor and a disk from those of others. */
async function pauseOf(user: string, shares: TimeShares): Promise<void> {
  for (let ms = shares.pauseOf(user); ms > 0; ms = shares.pauseOf(user)) await setTimeout(ms)
}

/** Charges each transaction to its user, without the time for which it waits for a connection. */
function charging(transact: Transact, shares: TimeShares): Transact {
  return async (work, by = NOBODY) => {
    let began: number | undefined
    try {
      return await transact(async (tx) => {
        began = performance.now()
        return await work(tx)
      })
    } finally {
      if (began !== undefined) shares.charge(by, performance.now() - began)
    }
  }
}
