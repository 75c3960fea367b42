import type { ClientAddress } from './client-address.ts'
import { type AppError, tooManyRequests } from '../errors.ts'
import {
  countFailedAttempt,
  FAILED_ATTEMPT_POLICY,
  type FailedAttemptCount,
  type FailedAttemptPolicy,
} from './failed-attempts.ts'

/**
 * Blocks addresses that send too many wrong tokens to this instance. Callers still accept tokens that are known to be
 * valid, from any address.
 */
export interface FailedAttemptLimiter {
  /** Remaining block in milliseconds; 0 if not blocked. No I/O. */
  blockedMs(address: ClientAddress): number

  /** Counts a wrong token unless the address is blocked. No I/O. */
  note(address: ClientAddress): void
}

export interface FailedAttemptLimiterOptions {
  readonly policy?: FailedAttemptPolicy | undefined
  /** Maximum number of addresses. Beyond it, the addresses that have been quiet longest are forgotten. */
  readonly maxAddresses?: number
  readonly clock?: () => number
}

const MAX_ADDRESSES = 10_000

export function createFailedAttemptLimiter(
  options: FailedAttemptLimiterOptions = {},
): FailedAttemptLimiter {
  const { policy = FAILED_ATTEMPT_POLICY, maxAddresses = MAX_ADDRESSES } = options
  const { clock = () => performance.now() } = options
  const counts = new Map<ClientAddress, FailedAttemptCount>()

  function keep(address: ClientAddress, count: FailedAttemptCount): void {
    counts.delete(address)
    counts.set(address, count)
    const [quietest] = counts.keys()
    if (counts.size > maxAddresses && quietest !== undefined) counts.delete(quietest)
  }

  function blockedMs(address: ClientAddress): number {
    const count = counts.get(address)
    const leftMs = (count?.blockedUntil ?? 0) - clock()
    if (count === undefined || leftMs <= 0) return 0
    keep(address, count)
    return leftMs
  }

  return {
    blockedMs,

    note(address) {
      if (blockedMs(address) > 0) return
      keep(address, countFailedAttempt(counts.get(address), clock(), policy))
    },
  }
}

export function tooManyFailedAttempts(blockedMs: number): AppError {
  return tooManyRequests('This address has sent too many wrong tokens.', blockedMs)
}
