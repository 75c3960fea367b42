import { setTimeout } from 'node:timers/promises'
import {
  type CompiledQuery,
  type Kysely,
  type RawBuilder,
  type Transaction,
  type KyselyPlugin,
  sql,
} from 'kysely'
import { AppError } from '../core/errors.ts'
import type { RunBatch } from './postgres/connection.ts'
import type { Transact } from './sqlite/group-commit.ts'
import type { Tables } from './schema.ts'

/** An open database, the same for every engine. */
export interface Database extends EngineParts {
  /** Runs statements that need no transaction. `work` may run several times, see `transaction`. */
  query<T>(work: (kysely: Kysely<Tables>) => Promise<T>): Promise<T>

  /** The rows that a compiled statement answers. As `query`. */
  execute<R>(statement: CompiledQuery<R>): Promise<readonly R[]>

  /** As `query`, for statements that read a page in the order of an index; see `keepIndexOrder`. */
  readInOrder<T>(work: (kysely: Kysely<Tables>) => Promise<T>): Promise<T>

  /**
   * Guarantees that all of `work` is durable when it resolves. `work` holds nothing but SQL and is
   * repeated from its beginning when the engine asks for it (serialization failure, deadlock), at most `MAX_REPEATS`
   * times, and for `LOCK_PATIENCE_MS` where another connection holds SQLite's lock. Rejects with the `AppError` that `work` threw, after
   * rolling back; with `unavailable` when the database failed, which says nothing about whether a
   * commit that was under way has happened; and with anything else untouched.
   */
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>

  /**
   * Resolves at once unless the last write that failed did so because the disk is full. Then it writes, with `probe`, and
   * rejects as `query` does until that succeeds.
   */
  proveWritable(probe: (kysely: Kysely<Tables>) => Promise<unknown>): Promise<void>

  close(): Promise<void>
}

/** A pool of connections at one moment. */
export interface Connections {
  /** Connections that may be open. */
  readonly limit: number
  readonly open: number
  /** Open ones that nobody uses. */
  readonly idle: number
  /** Callers that wait for one. */
  readonly waiting: number
}

/** The pieces of SQL in which the engines differ. */
export interface Fragments {
  /** Milliseconds since 1970 by the database's clock, evaluated once where it stands. */
  readonly now: RawBuilder<number>
  /** Ends a SELECT whose rows are to be locked until the transaction ends. */
  readonly forUpdate: RawBuilder<unknown>
  /** The collation that compares byte by byte. */
  readonly bytewise: RawBuilder<unknown>
}

/** SQL that both engines understand, where `NEW` and `OLD` are the row. */
export interface RowTrigger {
  readonly name: string
  /** `INSERT ON garbage`, for example. */
  readonly event: string
  readonly when: string
  readonly statement: string
}

/**
 * What an error of the driver means: `repeat` the transaction; another connection holds the lock of the whole database,
 * which is `locked`; a `defect` of ours, such as a violated constraint; a `failure` of the database or of the way to it; or
 * a write that failed because the disk is `full`, and was rolled back.
 */
export type Fault = 'repeat' | 'locked' | 'defect' | 'failure' | 'full'

/** What an engine has, and the database offers with repeats and translated errors. */
interface EngineParts extends Fragments {
  /** For tests, for the migrations and to compile statements; everything else goes through `query` and `transaction`. */
  readonly kysely: Kysely<Tables>
  /** The statements, for a migration, that have another one run after each row of a change. */
  readonly createTrigger: (trigger: RowTrigger) => readonly RawBuilder<unknown>[]
  /** `undefined` where the statements of a transaction cost no way to a server. */
  readonly runBatch: RunBatch | undefined
  /**
   * Goes, in one transaction, before a statement that reads a page in the order of an index; `undefined` where nothing is
   * needed. Without fresh statistics a planner thinks that a user has few files, and sorts a million of them for each page.
   */
  readonly keepIndexOrder: RawBuilder<unknown> | undefined
  /** As many changes of one user at a time are of use; more would only keep those of others waiting. */
  readonly changesPerUser: number
  /**
   * Runs a migration on connections without deadlines while requests go on, in one instance at a time, and repeats it
   * where locks are in its way; `undefined` where it has the database to itself anyway.
   */
  readonly migrateAlone:
    | (<T>(work: (kysely: Kysely<Tables>) => Promise<T>) => Promise<T>)
    | undefined
  /** How the pool of connections is used; `undefined` where the engine has none. */
  readonly connections: (() => Connections) | undefined
  /** Writes a consistent copy to a file that is there and empty; `undefined` where the engine has tools of its own. */
  readonly copyTo: ((file: string) => Promise<void>) | undefined
}

export interface Engine extends EngineParts, Repeats {
  /** One attempt at a transaction; Kysely's own when left out. */
  readonly transact?: Transact
  /** Closes what the engine opened; called once `kysely` is no longer used. */
  readonly release: () => Promise<void>
}

export const MAX_REPEATS = 5

/** As long as a change waits for its turn: a backup or an operator's transaction of seconds refuses nobody. */
export const LOCK_PATIENCE_MS = 10_000

/** Puts repeats and translated errors around an engine. */
export function createDatabase({ classify, lockPatienceMs, release, ...engine }: Engine): Database {
  const { transact, ...parts } = engine
  const { kysely, runBatch, keepIndexOrder, migrateAlone } = parts
  let isFull = false
  const repeats: Repeats = {
    lockPatienceMs,
    classify(error) {
      const fault = classify(error)
      if (fault === 'full') isFull = true
      return fault
    },
  }
  const query: Database['query'] = (work) => withRepeats(() => work(kysely), repeats)
  const attempt: Transact = transact ?? ((work) => kysely.transaction().execute(work))
  const transaction: Database['transaction'] = (work) => withRepeats(() => attempt(work), repeats)
  return {
    ...parts,
    migrateAlone: migrateAlone && ((work) => withRepeats(() => migrateAlone(work), repeats)),
    runBatch: runBatch && ((batch) => withRepeats(() => runBatch(batch), repeats)),
    query,
    transaction,
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
  /** How long a `locked` database is waited for, for tests; `LOCK_PATIENCE_MS` when left out. */
  readonly lockPatienceMs?: number | undefined
}

/**
 * Runs `attempt` until it succeeds, fails for good, has been repeated `MAX_REPEATS` times, or has found the database locked
 * for `lockPatienceMs`; translates what it throws.
 */
export async function withRepeats<T>(
  attempt: () => Promise<T>,
  { classify, lockPatienceMs = LOCK_PATIENCE_MS }: Repeats,
): Promise<T> {
  const givesUpAt = performance.now() + lockPatienceMs
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

/** The failure of a call whose outcome is unknown: the database may have done what it was asked, or not. */
export function databaseUnavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The database does not answer.', { cause, part: 'database' })
}

function databaseFull(cause: unknown): AppError {
  const detail = 'The disk of the database is full.'
  return new AppError('unavailable', detail, { cause, part: 'database', isFull: true })
}

const FIRST_BACKOFF_MS = 25

/** A try that finds the lock held costs some microseconds, and the lock may be free for a moment only. */
const MAX_LOCKED_BACKOFF_MS = 100

// Random, so that those who collided once do not meet again.
function backoffMs(repeats: number, maxMs: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** repeats, maxMs) * (0.5 + Math.random() / 2)
}

/**
 * Has a connection parse and plan a statement once and keep it, where the engine is a server: for statements that run all
 * the time, and whose text is always the same. They name their columns, since what is kept does not outlive a migration
 * that changes what `*` stands for.
 */
export const PREPARED: KyselyPlugin = {
  transformQuery: ({ node }) => ({ ...node, isPrepared: true }),
  transformResult: async ({ result }) => result,
}

/** A statement, given its values. */
export type Statement<V, R = unknown> = (values: V) => CompiledQuery<R>

/** Stands for a value of that name. */
export type Slot<V> = <K extends keyof V>(name: K) => RawBuilder<V[K]>

/** Builds and compiles a prepared statement once, for all the values that it will be run with. */
export function compileOnce<V, R = unknown>(
  db: Kysely<Tables>,
  build: (slot: Slot<V>) => RawBuilder<R>,
): Statement<V, R> {
  const compiled = build((name) => sql`${new Placeholder(name)}`).compile(db.withPlugin(PREPARED))
  return (values) => ({
    ...compiled,
    parameters: compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? (values[parameter.name as keyof V] ?? null) : parameter,
    ),
  })
}

class Placeholder {
  readonly name: PropertyKey

  constructor(name: PropertyKey) {
    this.name = name
  }
}
