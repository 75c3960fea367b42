import { setImmediate } from 'node:timers/promises'
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import type { UserId } from '../../core/users/user-id.ts'
import type { Batch, RunBatch } from '../database.ts'
import { tooLate } from '../repeats.ts'
import type { Tables } from '../schema.ts'
import { compileOnce, type Statement } from '../statement.ts'
import type { SqlContext } from '../ledger/ledger-sql.ts'

/**
 * The second formulation of an operation: one PostgreSQL statement, under the user's lock from an earlier one. It takes
 * effect as a whole, or changes nothing and returns no row. Then the call goes step by step. It is held to the steps by
 * `test/database/uploads/statement-agreement.proof.test.ts`.
 */
export interface BatchStatement<A, R> {
  /** Compiles it for a ledger. The function returns `undefined` for a call that only the steps can do. */
  readonly compile: (
    db: Kysely<Tables>,
    context: SqlContext,
  ) => (call: A) => CompiledQuery | undefined
  /** The result of the operation, from the row that the statement returned. */
  readonly toResult: (row: never) => R
}

interface InBatches<A, R> {
  readonly batcher: Batcher
  /** As `compile` of the statement returns it. */
  readonly queryOf: (call: A) => CompiledQuery | undefined
  readonly toResult: (row: never) => R
  readonly steps: (call: A) => Promise<R>
}

/** Runs the statement of each call in a batch, and its steps if there is no statement or it returned no row. */
export function inBatches<A extends { readonly userId: UserId }, R>({
  batcher,
  queryOf,
  toResult,
  steps,
}: InBatches<A, R>): (call: A) => Promise<R> {
  return async (call) => {
    const query = queryOf(call)
    const row = query && (await batcher.join(call.userId, query))
    return row ? toResult(row as never) : await steps(call)
  }
}

export interface Batcher {
  /** Resolves to the row that the statement of the user returned; `undefined` if it took no effect. */
  join(userId: UserId, query: CompiledQuery): Promise<unknown>
}

export interface BatcherOptions {
  readonly runBatch: RunBatch
  readonly locks: BatchLocks
  /** Runs `work` in order with the user's changes that take several steps. */
  readonly inOrder: <T>(userId: UserId, work: () => Promise<T>) => Promise<T>
  /** Milliseconds in the queue before `unavailable`, checked when the next batch starts. */
  readonly queueTimeoutMs: number
}

/** Statements that lock and return `quotas` rows: of one user, waiting for it, or those of many that are free. */
export interface BatchLocks {
  readonly one: Statement<{ readonly userId: UserId }>
  readonly free: Statement<{ readonly userIds: readonly UserId[] }>
}

export function createBatchLocks(db: Kysely<Tables>): BatchLocks {
  return {
    one: compileOnce(
      db,
      (slot) => sql`SELECT user_id FROM quotas WHERE user_id = ${slot('userId')} FOR UPDATE`,
    ),
    free: compileOnce(
      db,
      (slot) =>
        sql`SELECT user_id FROM quotas WHERE user_id = ANY(${slot('userIds')}) FOR UPDATE SKIP LOCKED`,
    ),
  }
}

/**
 * One lock statement and one disk write serve many calls; batches grow with the load. A batch skips users whose row
 * is locked, because waiting would delay all others; their calls wait in a transaction of their own.
 */
export function createBatcher(options: BatcherOptions): Batcher {
  const { locks, runBatch, inOrder, queueTimeoutMs } = options
  const queues = new Map<UserId, BatchEntry[]>()
  /** Users with a running transaction; their further calls would only wait for it. */
  const busy = new Set<UserId>()
  let running = 0

  function join(userId: UserId, query: CompiledQuery): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const entry = { query, since: performance.now(), resolve, reject }
    const queue = queues.get(userId)
    if (queue === undefined) queues.set(userId, [entry])
    else queue.push(entry)
    void start()
    return promise
  }

  async function start(): Promise<void> {
    if (running === MAX_RUNNING) return
    running += 1
    // Lets calls that arrived on other connections in this iteration join.
    await setImmediate()
    for (let batch = next(); batch.size > 0; batch = next()) await run(batch)
    running -= 1
  }

  function next(): Map<UserId, readonly BatchEntry[]> {
    const batch = new Map<UserId, readonly BatchEntry[]>()
    const oldest = performance.now() - queueTimeoutMs
    let room = MAX_ENTRIES
    for (const [userId, queue] of queues) {
      if (room === 0) break
      for (let [first] = queue; first !== undefined && first.since < oldest; [first] = queue) {
        queue.shift()
        first.reject(tooLate(queueTimeoutMs))
      }
      if (busy.has(userId)) continue
      const entries = queue.splice(0, room)
      room -= entries.length
      // The remaining entries wait behind all other users.
      queues.delete(userId)
      if (queue.length > 0) queues.set(userId, queue)
      if (entries.length > 0) batch.set(userId, entries)
    }
    return batch
  }

  /** Sends the entries of the users whose rows `lock` returns; resolves to those users. */
  async function send(
    batch: UserBatch,
    { lock, waits }: Pick<Batch, 'lock' | 'waits'>,
  ): Promise<readonly UserId[]> {
    let users: UserId[] = []
    let entries: BatchEntry[] = []
    const answers = await runBatch({
      lock,
      waits,
      users: [...batch.keys()],
      take(locked) {
        users = []
        entries = []
        const queries: CompiledQuery[] = []
        for (const row of locked) {
          const { user_id: userId } = row as { readonly user_id: UserId }
          users.push(userId)
          for (const entry of batch.get(userId) ?? []) {
            entries.push(entry)
            queries.push(entry.query)
          }
        }
        return queries
      },
    })
    if (answers === undefined) return []
    for (const [index, { resolve }] of entries.entries()) resolve(answers[index]?.rows[0])
    return users
  }

  async function run(batch: Map<UserId, readonly BatchEntry[]>): Promise<void> {
    const userIds = [...batch.keys()]
    for (const userId of userIds) busy.add(userId)
    try {
      for (const userId of await send(batch, {
        lock: locks.free({ userIds }),
        waits: false,
      })) {
        batch.delete(userId)
        busy.delete(userId)
      }
      for (const [userId, entries] of batch) void runAlone(userId, entries)
    } catch (error) {
      for (const userId of userIds) busy.delete(userId)
      for (const { reject } of [...batch.values()].flat()) reject(error)
    }
  }

  async function runAlone(userId: UserId, entries: readonly BatchEntry[]): Promise<void> {
    const lock = { lock: locks.one({ userId }), waits: true }
    try {
      const done = await inOrder(userId, () => send(new Map([[userId, entries]]), lock))
      if (done.length === 0) for (const { resolve } of entries) resolve(undefined)
    } catch (error) {
      for (const { reject } of entries) reject(error)
    }
    busy.delete(userId)
    void start()
  }

  return { join }
}

/** More batches would be smaller and wait for each other's disk writes. */
const MAX_RUNNING = 2

/** Bounds how long one transaction holds its locks. */
const MAX_ENTRIES = 64

interface BatchEntry {
  readonly query: CompiledQuery
  readonly since: number
  readonly resolve: (row: unknown) => void
  readonly reject: (error: unknown) => void
}

type UserBatch = ReadonlyMap<UserId, readonly BatchEntry[]>
