import { setTimeout } from 'node:timers/promises'
import type { CompiledQuery, Kysely, RawBuilder, Transaction } from 'kysely'
import { AppError } from '../core/errors.ts'
import { createConfirm } from './confirm.ts'
import type { RunBatch } from './postgres/connection.ts'
import type { Transact } from './sqlite/group-commit.ts'
import type { Tables } from './schema.ts'

export interface Database extends EngineParts {
  /** Runs statements outside a transaction. `work` may run several times, and rejects likewise; see `transaction`. */
  query<T>(work: (kysely: Kysely<Tables>) => Promise<T>): Promise<T>

  execute<R>(statement: CompiledQuery<R>): Promise<readonly R[]>

  /** Like `query`, but for statements that read a page in index order. See `keepIndexOrder`. */
  readInOrder<T>(work: (kysely: Kysely<Tables>) => Promise<T>): Promise<T>

  /**
   * Guarantees that all of `work` is durable when it resolves. `work` contains only SQL: it restarts after a
   * serialization failure or deadlock, at most `MAX_REPEATS` times, and for `LOCK_TIMEOUT_MS` while SQLite is locked.
   * Rejects with the `AppError` that `work` threw, after the rollback and `confirm`; with `unavailable` when the
   * database failed, which leaves the outcome of a running commit unknown; with any other error unchanged.
   */
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>

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
export interface Connections {
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
}

/** `when` and `statement` are SQL that both engines accept, with the row as `NEW` or `OLD`. */
export interface RowTrigger {
  readonly name: string
  readonly event: string
  readonly when: string
  readonly statement: string
}

/** `locked`: another connection has the lock. `defect`: a bug of ours. `full`: disk full, write rolled back. */
export type Fault = 'repeat' | 'locked' | 'defect' | 'failure' | 'full'

interface EngineParts extends Fragments {
  /** For tests, migrations and compiling statements; everything else uses `query` and `transaction`. */
  readonly kysely: Kysely<Tables>
  readonly createTrigger: (trigger: RowTrigger) => readonly RawBuilder<unknown>[]
  /** `undefined` if statements need no network round trip. */
  readonly runBatch: RunBatch | undefined
  /** Precedes an index-order read in its transaction: with stale statistics the planner would sort a million files. */
  readonly keepIndexOrder: RawBuilder<unknown> | undefined
  /** The number of concurrent changes of one user that help. More would only delay other users. */
  readonly changesPerUser: number
  /** Migrates alongside requests, in one instance at a time; `undefined` if migrations are exclusive anyway. */
  readonly migrateAlone:
    | (<T>(work: (kysely: Kysely<Tables>) => Promise<T>) => Promise<T>)
    | undefined
  /** `undefined` if the engine has no pool. */
  readonly connections: (() => Connections) | undefined
  /** Writes a consistent copy to an existing empty file; `undefined` if the engine has its own backup tools. */
  readonly copyTo: ((file: string) => Promise<void>) | undefined
}

export interface Engine extends EngineParts, Repeats {
  /** A statement whose end waits until all earlier commits are confirmed; `undefined` if reads see no others. */
  readonly confirmation: RawBuilder<unknown> | undefined
  readonly transact?: Transact
  readonly release: () => Promise<void>
}

export const MAX_REPEATS = 5

/** Equals the wait for a turn, so a backup or an operator's transaction of a few seconds refuses no change. */
export const LOCK_TIMEOUT_MS = 10_000

export function createDatabase({ classify, lockTimeoutMs, release, ...engine }: Engine): Database {
  const { transact, confirmation, ...parts } = engine
  const { kysely, runBatch, keepIndexOrder, migrateAlone } = parts
  let isFull = false
  const repeats: Repeats = {
    lockTimeoutMs,
    classify(error) {
      const fault = classify(error)
      if (fault === 'full') isFull = true
      return fault
    },
  }
  const confirm =
    confirmation === undefined
      ? async () => undefined
      : createConfirm(() => withRepeats(() => confirmation.execute(kysely), repeats))
  async function confirmingRefusal<T>(outcome: Promise<T>): Promise<T> {
    try {
      return await outcome
    } catch (error) {
      // Nobody takes `unavailable` for an answer.
      if (error instanceof AppError && error.code !== 'unavailable') await confirm()
      throw error
    }
  }
  const query: Database['query'] = (work) =>
    confirmingRefusal(withRepeats(() => work(kysely), repeats))
  const attempt: Transact = transact ?? ((work) => kysely.transaction().execute(work))
  const transaction: Database['transaction'] = (work) =>
    confirmingRefusal(withRepeats(() => attempt(work), repeats))
  return {
    ...parts,
    migrateAlone: migrateAlone && ((work) => withRepeats(() => migrateAlone(work), repeats)),
    runBatch: runBatch && ((batch) => withRepeats(() => runBatch(batch), repeats)),
    query,
    transaction,
    confirm,
    execute: async (statement) =>
      (await withRepeats(() => kysely.executeQuery(statement), repeats)).rows,
    readInOrder: (work) =>
      keepIndexOrder === undefined
        ? query(work)
        : transaction(async (tx) => {
            await keepIndexOrder.execute(tx)
            return await work(tx)
          }),
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

export interface Repeats {
  readonly classify: (error: unknown) => Fault
  readonly lockTimeoutMs?: number | undefined
}

/** Repeats `attempt` at most `MAX_REPEATS` times, or for `lockTimeoutMs` while locked. Translates its errors. */
export async function withRepeats<T>(
  attempt: () => Promise<T>,
  { classify, lockTimeoutMs = LOCK_TIMEOUT_MS }: Repeats,
): Promise<T> {
  const givesUpAt = performance.now() + lockTimeoutMs
  for (let repeats = 0; ; repeats++) {
    try {
      return await attempt()
    } catch (error) {
      const fault = error instanceof AppError ? 'defect' : classify(error)
      if (fault === 'defect') throw error
      if (fault === 'full') throw databaseFull(error)
      const isOver = fault === 'locked' ? performance.now() >= givesUpAt : repeats >= MAX_REPEATS
      if (fault === 'failure' || isOver) throw databaseUnavailable(error)
      await setTimeout(backoffMs(repeats, fault === 'locked' ? MAX_LOCKED_BACKOFF_MS : Infinity))
    }
  }
}

/** The outcome of the failed call is unknown: the database may have applied it. */
export function databaseUnavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The database failed or did not respond in time.', {
    cause,
    part: 'database',
  })
}

function databaseFull(cause: unknown): AppError {
  const detail = 'The disk of the database is full.'
  return new AppError('unavailable', detail, { cause, part: 'database', isFull: true })
}

const FIRST_BACKOFF_MS = 25

/** Trying a held lock costs microseconds, and the lock may be free only briefly. */
const MAX_LOCKED_BACKOFF_MS = 100

// Random, so that colliding transactions do not collide again.
function backoffMs(repeats: number, maxMs: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** repeats, maxMs) * (0.5 + Math.random() / 2)
}
