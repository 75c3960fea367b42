import { onAbort } from '../async/on-abort.ts'
import { HeldCounts } from '../quota/held-counts.ts'
import { tooManyOf } from '../quota/shares.ts'
import type { Actor } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import type { ChangeLedger } from './change-ledger.ts'

interface Wait {
  readonly sequence: number
  readonly ms: number
  readonly signal: AbortSignal
}

export type WaitEnd = 'woken' | 'quiet' | 'over'

/** Of one user on an instance. */
export const MAX_WATCHES = 16

const COUNTED = 'requests that wait for changes'
const WAIT_HINT_MS = 5_000
const USERS_PER_STATEMENT = 1_000

/** Asks for the changes of other processes every `pollMs`, with one statement for 1,000 users. */
export function createWatches(ledger: ChangeLedger, pollMs: number) {
  const watches = new Map<UserId, Set<Watch>>()
  const counts = new HeldCounts(MAX_WATCHES)
  let isPolling = false

  async function poll(): Promise<void> {
    const userIds = [...watches.keys()]
    for (let first = 0; first < userIds.length; first += USERS_PER_STATEMENT) {
      const some = userIds.slice(first, first + USERS_PER_STATEMENT)
      for (const [userId, sequence] of await ledger.latestSequences(some)) {
        for (const watcher of watches.get(userId) ?? []) {
          if (sequence > watcher.sequence) watcher.wake()
        }
      }
    }
  }

  function pollLater(): void {
    isPolling = watches.size > 0
    if (!isPolling) return
    // A failure concerns no request: what a watch misses, the next poll finds.
    setTimeout(() => void poll().then(pollLater, pollLater), pollMs).unref()
  }

  return {
    /**
     * Watch first, then read: no change is missed in between. Throws `too_many_requests` if the user has `MAX_WATCHES`
     * already, or a narrow credential its share of them.
     */
    add({ userId, credential }: Pick<Actor, 'userId' | 'credential'>): Watch {
      const holder = { owner: userId, credential }
      const reached = counts.reached(holder)
      if (reached !== undefined) throw tooManyOf(reached, COUNTED, { waitMs: WAIT_HINT_MS })
      const ofUser = watches.get(userId) ?? new Set()
      counts.add(holder, 1)
      const watcher = new Watch(() => {
        if (ofUser.delete(watcher)) counts.add(holder, -1)
        if (ofUser.size === 0) watches.delete(userId)
      })
      watches.set(userId, ofUser.add(watcher))
      if (!isPolling) pollLater()
      return watcher
    },

    wake(userId: UserId): void {
      for (const watcher of watches.get(userId) ?? []) watcher.wake()
    },
  }
}

/** Waits for changes of one account until disposed. */
class Watch implements Disposable {
  /** What its owner has seen. Before the first `next`, only the commits of this process wake it. */
  sequence = Number.MAX_SAFE_INTEGER
  readonly #leave: () => void
  #isWoken = false
  #resolve: ((end: WaitEnd) => void) | undefined

  constructor(leave: () => void) {
    this.#leave = leave
  }

  wake(): void {
    if (this.#resolve === undefined) this.#isWoken = true
    else this.#resolve('woken')
  }

  /**
   * Resolves to `woken` once there may be a change after `sequence`, to `quiet` after `ms` milliseconds, and to `over`
   * when `signal` aborts. Call it again only after that.
   */
  async next({ sequence, ms, signal }: Wait): Promise<WaitEnd> {
    this.sequence = sequence
    if (signal.aborted) return 'over'
    const { promise, resolve } = Promise.withResolvers<WaitEnd>()
    if (this.#isWoken) resolve('woken')
    this.#isWoken = false
    this.#resolve = resolve
    const late = setTimeout(resolve, ms, 'quiet')
    using _ = onAbort(signal, () => resolve('over'))
    try {
      return await promise
    } finally {
      clearTimeout(late)
      this.#resolve = undefined
    }
  }

  [Symbol.dispose](): void {
    this.#leave()
  }
}
