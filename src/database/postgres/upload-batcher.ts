import { setImmediate } from 'node:timers/promises'
import type { CompiledQuery } from 'kysely'
import type { UserId } from '../../core/users/user-id.ts'
import type { UserSemaphore, Steps } from '../ledger/session.ts'
import { tooLate } from '../repeats.ts'
import { type ResumableRow, toResumable } from '../resumable/rows.ts'
import type { Batch, RunBatch } from '../database.ts'
import { type CommittedRow, toCommitted } from './commit-statement.ts'
import type { UploadStatements } from './upload-statements.ts'

export interface UploadBatchesOptions {
  readonly statements: UploadStatements
  /** Handles refusals and uploads that have no statement. */
  readonly steps: Steps
  readonly runBatch: RunBatch
  readonly userSemaphore: UserSemaphore
  /** Milliseconds in the queue before `unavailable`, checked when the next batch starts. */
  readonly queueTimeoutMs: number
}

/**
 * One lock statement and one disk write serve many uploads; batches grow with the load. A batch skips users whose row
 * is locked, because waiting would delay all others; their uploads wait in a transaction of their own.
 */
export function createUploadBatches(options: UploadBatchesOptions): Steps {
  const { statements, steps, runBatch, userSemaphore, queueTimeoutMs } = options
  const queues = new Map<UserId, BatchEntry[]>()
  /** Users with a running transaction; their further uploads would only wait for it. */
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
    // Lets uploads that arrived on other connections in this turn join.
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
        lock: statements.lockFree({ userIds }),
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
    const lock = { lock: statements.lock({ userId }), waits: true }
    try {
      const done = await userSemaphore(userId, () => send(new Map([[userId, entries]]), lock))
      if (done.length === 0) for (const { resolve } of entries) resolve(undefined)
    } catch (error) {
      for (const { reject } of entries) reject(error)
    }
    busy.delete(userId)
    void start()
  }

  return {
    async begin(upload) {
      const query = statements.begin(upload)
      const row = query && (await join(upload.userId, query))
      if (!row) await steps.begin(upload)
    },

    async createResumable(upload) {
      const query = statements.create(upload)
      const row = query && (await join(upload.userId, query))
      return row ? toResumable(row as ResumableRow) : steps.createResumable(upload)
    },

    async commit(upload) {
      const query = statements.commit(upload)
      const row = query && (await join(upload.userId, query))
      return row ? toCommitted(row as CommittedRow) : steps.commit(upload)
    },
  }
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
