import { setTimeout as delay } from 'node:timers/promises'
import { tooManyFailedAttempts } from './failed-attempt-limiter.ts'
import type { AccessTokenUser, UserStore } from '../users/user-store.ts'

/** Looks up unknown tokens from blocked addresses, which may be valid: one statement at a time, ten a second. */
export interface ThrottledLookup {
  /** Resolves within about 100 ms. Rejects with `too_many_requests` if the batch is full, and as the store does. */
  find(sha256: string): Promise<AccessTokenUser | undefined>
}

const EVERY_MS = 100
const MAX_WAITING = 100

type Waiting = Map<string, PromiseWithResolvers<AccessTokenUser | undefined>>

export function createThrottledLookup(users: UserStore): ThrottledLookup {
  let waiting: Waiting = new Map()
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.size > 0) {
      await delay(EVERY_MS)
      const batch = waiting
      waiting = new Map()
      await settle(batch)
    }
    isRunning = false
  }

  /** Never rejects. */
  async function settle(batch: Waiting): Promise<void> {
    try {
      const found = await users.findAccessTokenUsers([...batch.keys()])
      for (const [sha256, { resolve }] of batch) resolve(found.get(sha256))
    } catch (error) {
      for (const { reject } of batch.values()) reject(error)
    }
  }

  return {
    find(sha256) {
      const joined = waiting.get(sha256) ?? Promise.withResolvers()
      if (!waiting.has(sha256) && waiting.size >= MAX_WAITING) {
        return Promise.reject(tooManyFailedAttempts(EVERY_MS))
      }
      waiting.set(sha256, joined)
      if (!isRunning) void run()
      return joined.promise
    },
  }
}

interface BudgetOptions {
  readonly max: number
  readonly everyMs: number
  readonly clock: () => number
}

/** Allows `max` calls of `take` per `everyMs`. */
export function createBudget({ max, everyMs, clock }: BudgetOptions) {
  let endsAt = Number.NEGATIVE_INFINITY
  let left = 0
  return {
    take(): boolean {
      const now = clock()
      if (now >= endsAt) [endsAt, left] = [now + everyMs, max]
      left -= 1
      return left >= 0
    },
  }
}
