import { setImmediate } from 'node:timers/promises'
import type { CompiledQuery } from 'kysely'
import type { Ledger } from '../../core/ledger/ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { createKeyedSemaphore, tooLate, type KeyedSemaphore } from '../ledger/keyed-semaphore.ts'
import type { RunBatch } from './connection.ts'
import { type CommittedRow, toCommitted, type UploadStatements } from './upload-statements.ts'

/** What of the ledger uploads do in batches. */
export type UploadLedger = Pick<Ledger, 'begin' | 'commit'>

export interface UploadBatchesOptions {
  readonly statements: UploadStatements
  /** Does what a statement does not: what there is none for, and whatever is refused. */
  readonly steps: UploadLedger
  readonly runBatch: RunBatch
  readonly userSemaphore: KeyedSemaphore
  /** Who has waited for longer when the next batch goes fails with `unavailable`; in milliseconds. */
  readonly patienceMs: number
}

/**
 * Has uploads share transactions, those of one user and those of many: one lock, one write to the disk. While a few batches
 * are under way all others gather, so a batch is as large as the crowd.
 *
 * A batch waits for nobody's row, or one user whose row somebody else holds would keep all others waiting: what is that user's
 * goes by itself then, and waits.
 */
export function createUploadBatches(options: UploadBatchesOptions): UploadLedger {
  const { statements, steps, runBatch, userSemaphore, patienceMs } = options
  /** Who waits, the user whose turn is next first. */
  const queues = new Map<UserId, BatchEntry[]>()
  /** Those of whom something is under way. More of the same user would only wait for that. */
  const busy = new Set<UserId>()
  let running = 0
  // Of all users: were there many whose rows are held, they would take every connection while they wait.
  const aloneSemaphore = createKeyedSemaphore({ atOnce: MAX_ALONE, patienceMs })

  /** Resolves with the row that the statement answers; `undefined` when it took no effect. */
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
    // What arrived by other connections at the same time goes along.
    await setImmediate()
    for (let batch = next(); batch.size > 0; batch = next()) await run(batch)
    running -= 1
  }

  /** What goes next, out of the queues. Who has waited for too long is refused. */
  function next(): Map<UserId, readonly BatchEntry[]> {
    const batch = new Map<UserId, readonly BatchEntry[]>()
    const oldest = performance.now() - patienceMs
    let room = MAX_ENTRIES
    for (const [userId, queue] of queues) {
      if (room === 0) break
      for (let [first] = queue; first !== undefined && first.since < oldest; [first] = queue) {
        queue.shift()
        first.reject(tooLate(patienceMs))
      }
      if (busy.has(userId)) continue
      const entries = queue.splice(0, room)
      room -= entries.length
      // What is left waits behind everybody else.
      queues.delete(userId)
      if (queue.length > 0) queues.set(userId, queue)
      if (entries.length > 0) batch.set(userId, entries)
    }
    return batch
  }

  /** Does what belongs to the rows that the statement locks, and answers of whom that was. */
  async function send(batch: UserBatch, lock: CompiledQuery): Promise<readonly UserId[]> {
    let users: UserId[] = []
    let entries: BatchEntry[] = []
    const answers = await runBatch({
      lock,
      take(locked) {
        users = []
        entries = []
        const queries: CompiledQuery[] = []
        for (const row of locked) {
          const { user_id: userId } = row as LockedRow
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
      for (const userId of await send(batch, statements.lockFree({ userIds }))) {
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
    const lock = statements.lock({ userId })
    try {
      const done = await userSemaphore(userId, () =>
        aloneSemaphore('', () => send(new Map([[userId, entries]]), lock)),
      )
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

    async commit(upload) {
      const query = statements.commit(upload)
      const row = query && (await join(upload.userId, query))
      return row ? toCommitted(row as CommittedRow) : steps.commit(upload)
    },
  }
}

/** More would each be smaller, and wait for one another's writes to the disk. */
const MAX_RUNNING = 2

/** Users that go by themselves at a time. */
const MAX_ALONE = 4

/** Bounds what one transaction holds up. */
const MAX_ENTRIES = 64

interface BatchEntry {
  readonly query: CompiledQuery
  /** When it began to wait, by `performance.now`. */
  readonly since: number
  readonly resolve: (row: unknown) => void
  readonly reject: (error: unknown) => void
}

type UserBatch = ReadonlyMap<UserId, readonly BatchEntry[]>

interface LockedRow {
  readonly user_id: UserId
}
