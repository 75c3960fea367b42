import type { ClientAddress } from './client-address.ts'
import { AppError } from '../errors.ts'
import {
  countFailedAttempts,
  FAILED_ATTEMPT_POLICY,
  type FailedAttemptCount,
  type FailedAttemptPolicy,
} from './failed-attempts.ts'
import type { FailedAttemptStore, SharedCounts } from './failed-attempt-store.ts'

/**
 * Blocks addresses that are wrong about tokens too often. It refuses nobody by itself: whose token is known to be good
 * is let in from everywhere, which its callers see to.
 */
export interface FailedAttemptLimiter {
  /** How long the address is blocked from now on, in milliseconds; 0 when it is not. Costs no input or output. */
  blockedMs(address: ClientAddress): number

  /** Counts a token that was wrong; not while the address is blocked. Costs no input or output. */
  note(address: ClientAddress): void

  /**
   * Shares what was counted since the last call with the other instances, and learns what they have counted. To be
   * called every second: one transaction, and none when there is nothing new. Rejects with `unavailable`, which
   * loses the sharing of these guesses; what this instance has counted stands.
   */
  share(): Promise<void>

  /** Forgets what the instances share of addresses that have been quiet for long. To be called every minute. */
  forgetExpired(): Promise<void>
}

export interface FailedAttemptLimiterOptions {
  readonly counts: FailedAttemptStore
  readonly policy?: FailedAttemptPolicy
  /** Addresses that are remembered here; when there are more, those that have been quiet longest are forgotten. */
  readonly maxAddresses?: number
  /** Milliseconds from any beginning, never going back. */
  readonly clock?: () => number
}

interface Entry {
  /** By the clock. */
  readonly count: FailedAttemptCount
  /** Guesses that the other instances do not know of. */
  readonly unshared: number
}

const MAX_ADDRESSES = 10_000
const MAX_SHARED_AT_ONCE = 500
const MAX_FORGOTTEN_AT_ONCE = 10_000

/** Counts in bounded memory, and through the port with all instances. */
export function createFailedAttemptLimiter(
  options: FailedAttemptLimiterOptions,
): FailedAttemptLimiter {
  const { counts, policy = FAILED_ATTEMPT_POLICY, maxAddresses = MAX_ADDRESSES } = options
  const { clock = () => performance.now() } = options
  const entries = new Map<ClientAddress, Entry>()

  /** Keeps the entries in the order in which their addresses were last heard of. */
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

/** The refusal of a token that is not known to be good, from an address that is blocked for so long. */
export function tooManyFailedAttempts(blockedMs: number): AppError {
  return new AppError('too_many_requests', 'Too many wrong tokens came from this address.', {
    facts: { retry_after: Math.max(1, Math.ceil(blockedMs / 1000)) },
  })
}

function shift(count: FailedAttemptCount, ms: number): FailedAttemptCount {
  return {
    ...count,
    windowEndsAt: count.windowEndsAt + ms,
    blockedUntil: count.blockedUntil + ms,
    expiresAt: count.expiresAt + ms,
  }
}
