import type { ClientAddress } from './client-address.ts'
import { type AppError, tooManyRequests } from '../errors.ts'
import {
  countFailedAttempts,
  FAILED_ATTEMPT_POLICY,
  type FailedAttemptCount,
  type FailedAttemptPolicy,
} from './failed-attempts.ts'
import type { FailedAttemptStore, SharedCounts } from './failed-attempt-store.ts'

/**
 * Blocks addresses that send too many wrong tokens. Callers still accept tokens that are known to be valid, from any
 * address.
 */
export interface FailedAttemptLimiter {
  /** Remaining block in milliseconds; 0 if not blocked. No I/O. */
  blockedMs(address: ClientAddress): number

  /** Counts a wrong token unless the address is blocked. No I/O. */
  note(address: ClientAddress): void

  /**
   * Exchanges new counts with the other instances, in at most one transaction. Called every second. If it rejects with
   * `unavailable`, this instance keeps the counts, but they are not shared.
   */
  share(): Promise<void>

  /** Deletes expired shared counts. Called every minute. */
  forgetExpired(): Promise<void>
}

export interface FailedAttemptLimiterOptions {
  readonly counts: FailedAttemptStore
  readonly policy?: FailedAttemptPolicy
  /** Maximum number of addresses. Beyond it, the addresses that have been quiet longest are forgotten. */
  readonly maxAddresses?: number
  readonly clock?: () => number
}

interface Entry {
  readonly count: FailedAttemptCount
  readonly unshared: number
}

const MAX_ADDRESSES = 10_000
const MAX_SHARED_AT_ONCE = 500
const MAX_FORGOTTEN_AT_ONCE = 10_000

export function createFailedAttemptLimiter(
  options: FailedAttemptLimiterOptions,
): FailedAttemptLimiter {
  const { counts, policy = FAILED_ATTEMPT_POLICY, maxAddresses = MAX_ADDRESSES } = options
  const { clock = () => performance.now() } = options
  const entries = new Map<ClientAddress, Entry>()

  function keep(address: ClientAddress, entry: Entry): void {
    entries.delete(address)
    entries.set(address, entry)
    const [quietest] = entries.keys()
    if (entries.size > maxAddresses && quietest !== undefined) entries.delete(quietest)
  }

  function blockedMs(address: ClientAddress): number {
    const entry = entries.get(address)
    const leftMs = (entry?.count.blockedUntil ?? 0) - clock()
    if (entry === undefined || leftMs <= 0) return 0
    keep(address, entry)
    return leftMs
  }

  function learn({ counts, now }: SharedCounts): void {
    const behindMs = clock() - now
    for (const [address, count] of counts) {
      const entry = entries.get(address)
      if (entry === undefined) continue
      const shared = shift(count, behindMs)
      const known = entry.count.blockedUntil > shared.blockedUntil ? entry.count : shared
      const failedAttempts = { failedAttempts: entry.unshared, now: clock() }
      entries.set(address, {
        count: entry.unshared === 0 ? known : countFailedAttempts(known, failedAttempts, policy),
        unshared: entry.unshared,
      })
    }
  }

  return {
    blockedMs,

    note(address) {
      if (blockedMs(address) > 0) return
      const { count, unshared = 0 } = entries.get(address) ?? {}
      const attempt = { failedAttempts: 1, now: clock() }
      keep(address, { count: countFailedAttempts(count, attempt, policy), unshared: unshared + 1 })
    },

    async share() {
      const unshared = new Map<ClientAddress, number>()
      for (const [address, entry] of entries) {
        if (entry.unshared === 0) continue
        unshared.set(address, entry.unshared)
        entries.set(address, { ...entry, unshared: 0 })
        if (unshared.size === MAX_SHARED_AT_ONCE) break
      }
      if (unshared.size === 0) return
      const shared = await counts.update([...unshared.keys()], (address, before, now) =>
        countFailedAttempts(before, { failedAttempts: unshared.get(address) ?? 0, now }, policy),
      )
      learn(shared)
    },

    async forgetExpired() {
      await counts.forgetExpired(MAX_FORGOTTEN_AT_ONCE)
    },
  }
}

export function tooManyFailedAttempts(blockedMs: number): AppError {
  return tooManyRequests('This address has sent too many wrong tokens.', blockedMs)
}

function shift(count: FailedAttemptCount, ms: number): FailedAttemptCount {
  return {
    ...count,
    windowEndsAt: count.windowEndsAt + ms,
    blockedUntil: count.blockedUntil + ms,
    expiresAt: count.expiresAt + ms,
  }
}
