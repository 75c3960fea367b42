import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { CompiledQuery, type Kysely, type Transaction } from 'kysely'
import type { Execute, Transact } from '../database.ts'
import type { Tables } from '../schema.ts'
import { LONG_MS, NOBODY, TimeShares } from '../../core/async/time-shares.ts'

export interface GroupCommitOptions {
  readonly kysely: Kysely<Tables>
  /** Runs a statement in the open transaction. */
  readonly execute: Execute
  /** False after errors on which SQLite has already rolled back. */
  readonly isInTransaction: () => boolean
  /** How many statements have changed rows so far. */
  readonly writes: () => number
}

/**
 * Concurrent transactions share one COMMIT and so one disk write. One that throws is undone alone, and later ones see the
 * changes of earlier ones. Nobody is answered before the COMMIT, not even with a refusal, since its reason may be
 * another's change. If the COMMIT fails, all reject with its error.
 *
 * Hardly any throws after it has written, and a savepoint copies each page that its transaction changes. So there is none
 * until one throws that has written: then the group is rolled back and run once more, each with a savepoint.
 *
 * Users share the time of the writer: the user who has used least of it lately is next, with transactions in call
 * order. A group ends before a transaction that would probably make the others wait, which then has a group of its own.
 */
export function createGroupCommit(options: GroupCommitOptions): Transact {
  const shares = new TimeShares()
  const queue = new TurnQueue<Member>(shares)
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (queue.size > 0) {
      // Lets transactions that are ready join, and other work run between two groups.
      await setImmediate()
      const pause = queue.pause()
      if (pause > 0) await setTimeout(Math.min(pause, MAX_PAUSE_MS))
      else await commitGroup(queue, shares, options)
    }
    isRunning = false
  }

  return (work, by = NOBODY) =>
    new Promise((resolve, reject) => {
      const attempt = AsyncLocalStorage.bind(async (tx: Transaction<Tables>) => {
        const value = await work(tx)
        return () => resolve(value)
      })
      queue.add(by, { attempt, reject })
      if (!isRunning) void run()
    })
}

/** Bounds how long the thread does nothing else. */
const MAX_MEMBERS = 64

/** A group with shorter transactions is as long as one of these. */
const MAX_GROUP_MS = LONG_MS

/** What arrives during a pause waits no longer. */
const MAX_PAUSE_MS = 2

interface Member {
  /** Resolves to a function that reports success to the caller. */
  readonly attempt: (tx: Transaction<Tables>) => Promise<Tell>
  readonly reject: (error: unknown) => void
}

type Tell = () => void

async function commitGroup(
  queue: TurnQueue<Member>,
  shares: TimeShares,
  options: GroupCommitOptions,
): Promise<void> {
  const { kysely } = options
  const members: { readonly by: string; readonly item: Member }[] = []
  const spent: { readonly by: string; readonly ms: number }[] = []
  const start = performance.now()
  async function run({ by, item }: (typeof members)[number], attempt: Attempt): Promise<Tell> {
    const began = performance.now()
    try {
      return await attempt(item)
    } finally {
      spent.push({ by, ms: performance.now() - began })
    }
  }
  /** Runs the members that there are, and then those who join. */
  async function runAll(attempt: Attempt): Promise<readonly Tell[]> {
    const done: Tell[] = []
    for (const member of members) done.push(await run(member, attempt))
    const begun = performance.now()
    while (members.length < MAX_MEMBERS) {
      const left = MAX_GROUP_MS - (performance.now() - begun)
      const next = queue.take(members.length === 0 ? Infinity : left)
      if (next === undefined) break
      members.push(next)
      done.push(await run(next, attempt))
    }
    return done
  }
  try {
    const tells = await kysely
      .transaction()
      .execute((tx) => runAll((member) => withoutSavepoint(tx, member, options)))
      .catch((error: unknown) => {
        if (!(error instanceof SavepointNeeded)) throw error
        return kysely
          .transaction()
          .execute((tx) => runAll((member) => withSavepoint(tx, member, options)))
      })
    for (const tell of tells) tell()
  } catch (error) {
    // None has begun if another connection has the lock.
    const failed = members.map(({ item }) => item)
    if (failed.length === 0) failed.push(...queue.takeAny(MAX_MEMBERS))
    for (const { reject } of failed) reject(error)
  } finally {
    charge(shares, { spent, totalMs: performance.now() - start })
  }
}

type Attempt = (member: Member) => Promise<Tell>

/** A transaction without a savepoint has thrown after it had written. */
class SavepointNeeded extends Error {}

/** Needs no savepoint, but throws `SavepointNeeded` if there is something to undo. */
async function withoutSavepoint(
  tx: Transaction<Tables>,
  member: Member,
  { isInTransaction, writes }: GroupCommitOptions,
): Promise<Tell> {
  const before = writes()
  try {
    return await member.attempt(tx)
  } catch (error) {
    if (!isInTransaction()) throw error
    if (writes() !== before) throw new SavepointNeeded()
    return () => member.reject(error)
  }
}

/** What the COMMIT takes is a part of each transaction, since it writes what they have changed. */
function charge(shares: TimeShares, { spent, totalMs }: Spent): void {
  const sum = spent.reduce((before, { ms }) => before + ms, 0)
  for (const { by, ms } of spent) {
    const shared = sum > 0 ? (ms / sum) * (totalMs - sum) : 0
    shares.chargeShared(by, { spent: ms, shared: Math.max(0, shared) })
  }
}

interface Spent {
  readonly spent: readonly { readonly by: string; readonly ms: number }[]
  readonly totalMs: number
}

const SAVEPOINT = CompiledQuery.raw('SAVEPOINT member')
const RELEASE = CompiledQuery.raw('RELEASE member')
const ROLLBACK = CompiledQuery.raw('ROLLBACK TO member')

async function withSavepoint(
  tx: Transaction<Tables>,
  member: Member,
  { execute, isInTransaction }: GroupCommitOptions,
): Promise<Tell> {
  await execute(SAVEPOINT)
  try {
    const tell = await member.attempt(tx)
    await execute(RELEASE)
    return tell
  } catch (error) {
    if (!isInTransaction()) throw error
    await execute(ROLLBACK)
    await execute(RELEASE)
    return () => member.reject(error)
  }
}

/** What waits for the writer, by user. */
export class TurnQueue<T> {
  readonly #shares: Pick<TimeShares, 'usedBy' | 'costOf' | 'pauseOf'>
  readonly #waiting = new Map<string, T[]>()
  #size = 0

  constructor(shares: Pick<TimeShares, 'usedBy' | 'costOf' | 'pauseOf'>) {
    this.#shares = shares
  }

  get size(): number {
    return this.#size
  }

  add(by: string, item: T): void {
    const items = this.#waiting.get(by)
    if (items === undefined) this.#waiting.set(by, [item])
    else items.push(item)
    this.#size += 1
  }

  /** The first of the user who has used least; `undefined` if there is none, or if it would probably take longer. */
  take(mostMs: number): { readonly by: string; readonly item: T } | undefined {
    const by = this.#next()
    const items = by === undefined ? undefined : this.#waiting.get(by)
    if (by === undefined || items === undefined) return undefined
    if (by !== NOBODY && this.#shares.costOf(by) > mostMs) return undefined
    const item = items.shift()
    if (items.length === 0) this.#waiting.delete(by)
    if (item === undefined) return undefined
    this.#size -= 1
    return { by, item }
  }

  /** Some of what waits, of any user. */
  takeAny(most: number): readonly T[] {
    const taken: T[] = []
    for (const [by, items] of this.#waiting) {
      taken.push(...items.splice(0, most - taken.length))
      if (items.length === 0) this.#waiting.delete(by)
      if (taken.length === most) break
    }
    this.#size -= taken.length
    return taken
  }

  /** Milliseconds until any user may go on. */
  pause(): number {
    let least = Infinity
    for (const by of this.#waiting.keys()) {
      least = Math.min(least, this.#shares.pauseOf(by))
      if (least === 0) return 0
    }
    return least === Infinity ? 0 : least
  }

  #next(): string | undefined {
    if (this.#waiting.size === 1) {
      const [only] = this.#waiting.keys()
      return only !== undefined && this.#shares.pauseOf(only) === 0 ? only : undefined
    }
    let [least, next]: [number, string | undefined] = [Infinity, undefined]
    for (const by of this.#waiting.keys()) {
      const used = this.#shares.usedBy(by)
      if (used < least && this.#shares.pauseOf(by) === 0) [least, next] = [used, by]
    }
    return next
  }
}
