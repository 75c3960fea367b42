import { setImmediate } from 'node:timers/promises'
import type { CompiledQuery } from 'kysely'
import type { Ledger } from '../../core/ledger/ledger.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { RunBatch } from './batch.ts'
import { type CommittedRow, toCommitted, type UploadStatements } from './upload-statements.ts'
import { createTurns, tooLate, type Turns } from '../ledger/keyed-semaphore.ts'

/** What of the ledger uploads do in batches. */
export type UploadLedger = Pick<Ledger, 'begin' | 'commit'>

export interface UploadBatchesOptions {
  readonly statements: UploadStatements
  /** Does what a statement does not: what there is none for, and whatever is refused. */
  readonly steps: UploadLedger
  readonly runBatch: RunBatch
  readonly turns: Turns
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
  const { statements, steps, runBatch, turns, patienceMs } = options
  /** Who waits, the user whose turn is next first. */
  const queues = new Map<UserId, Member[]>()
  /** Those of whom something is under way. More of the same user would only wait for that. */
  const busy = new Set<UserId>()
  let running = 0
  // Of all users: were there many whose rows are held, they would take every connection while they wait.
  const turnsAlone = createTurns({ atOnce: MAX_ALONE, patienceMs })

  /** Resolves with the row that the statement answers; `undefined` when it took no effect. */
  function join(userId: UserId, query: CompiledQuery): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const member = { query, since: performance.now(), resolve, reject }
    const queue = queues.get(userId)
    if (queue === undefined) queues.set(userId, [member])
    else queue.push(member)
    void start()
    return promise
  }

  async function start(): Promise<void> {
    if (running === MAX_RUNNING) return
    running += 1
    // What arrived by other connections at the same time goes along.
    await setImmediate()
    for (let crowd = next(); crowd.size > 0; crowd = next()) await run(crowd)
    running -= 1
  }

  /** What goes next, out of the queues. Who has waited for too long is refused. */
  function next(): Map<UserId, readonly Member[]> {
    const crowd = new Map<UserId, readonly Member[]>()
    const oldest = performance.now() - patienceMs
    let room = MAX_MEMBERS
    for (const [userId, queue] of queues) {
      if (room === 0) break
      const inTime = queue.findIndex(({ since }) => since >= oldest)
      for (const { reject } of queue.splice(0, inTime === -1 ? queue.length : inTime))
        reject(tooLate(patienceMs))
      if (busy.has(userId)) continue
      const members = queue.splice(0, room)
      room -= members.length
      // What is left waits behind everybody else.
      queues.delete(userId)
      if (queue.length > 0) queues.set(userId, queue)
      if (members.length > 0) crowd.set(userId, members)
    }
    return crowd
  }

  /** Does what belongs to the rows that the statement locks, and answers of whom that was. */
  async function send(crowd: Crowd, lock: CompiledQuery): Promise<readonly UserId[]> {
    let users: readonly UserId[] = []
    let members: readonly Member[] = []
    const answers = await runBatch({
      lock,
      take(locked) {
        users = locked.map((row) => (row as LockedRow).user_id)
        members = users.flatMap((userId) => crowd.get(userId) ?? [])
        return members.map(({ query }) => query)
      },
    })
    if (answers === undefined) return []
    for (const [index, { resolve }] of members.entries()) resolve(answers[index]?.rows[0])
    return users
  }

  async function run(crowd: Map<UserId, readonly Member[]>): Promise<void> {
    const userIds = [...crowd.keys()]
    for (const userId of userIds) busy.add(userId)
    try {
      for (const userId of await send(crowd, statements.lockFree({ userIds }))) {
        crowd.delete(userId)
        busy.delete(userId)
      }
      for (const [userId, members] of crowd) void runAlone(userId, members)
    } catch (error) {
      for (const userId of userIds) busy.delete(userId)
      for (const { reject } of [...crowd.values()].flat()) reject(error)
    }
  }

  async function runAlone(userId: UserId, members: readonly Member[]): Promise<void> {
    const lock = statements.lock({ userId })
    try {
      const done = await turns(userId, () =>
        turnsAlone('', () => send(new Map([[userId, members]]), lock)),
      )
      if (done.length === 0) for (const { resolve } of members) resolve(undefined)
    } catch (error) {
      for (const { reject } of members) reject(error)
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
const MAX_MEMBERS = 64

interface Member {
  readonly query: CompiledQuery
  /** When it began to wait, by `performance.now`. */
  readonly since: number
  readonly resolve: (row: unknown) => void
  readonly reject: (error: unknown) => void
}

type Crowd = ReadonlyMap<UserId, readonly Member[]>

interface LockedRow {
  readonly user_id: UserId
}
