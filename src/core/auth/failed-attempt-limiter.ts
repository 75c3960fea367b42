import { BoundedMap } from '../bounded-map.ts'
import type { ClientAddress } from './client-address.ts'
import { type AppError, tooManyRequests } from '../errors.ts'

/**
 * Blocks addresses that send too many wrong tokens to this instance. Callers still accept tokens that are known to be
 * valid, from any address.
 */
export type FailedAttemptLimiter = ReturnType<typeof createFailedAttemptLimiter>

export interface FailedAttemptLimiterOptions {
  readonly policy?: FailedAttemptPolicy | undefined
  /** Maximum number of addresses. Beyond it, the addresses that have been quiet longest are forgotten. */
  readonly maxAddresses?: number
  readonly clock?: () => number
}

const MAX_ADDRESSES = 10_000

export function createFailedAttemptLimiter(options: FailedAttemptLimiterOptions = {}) {
  const { policy = FAILED_ATTEMPT_POLICY, maxAddresses = MAX_ADDRESSES } = options
  const { clock = () => performance.now() } = options
  const counts = new BoundedMap<ClientAddress, FailedAttemptCount>(maxAddresses)

  function blockedMs(address: ClientAddress): number {
    const count = counts.get(address)
    const leftMs = (count?.blockedUntil ?? 0) - clock()
    if (count === undefined || leftMs <= 0) return 0
    counts.set(address, count)
    return leftMs
  }

  return {
    /** Remaining block in milliseconds; 0 if not blocked. No I/O. */
    blockedMs,

    /** Counts a wrong token unless the address is blocked. No I/O. */
    note(address: ClientAddress): void {
      if (blockedMs(address) > 0) return
      counts.set(address, countFailedAttempt(counts.get(address), clock(), policy))
    },
  }
}

export function tooManyFailedAttempts(blockedMs: number): AppError {
  return tooManyRequests('This address has sent too many wrong tokens.', blockedMs)
}

/** Failed attempts of one address, in milliseconds of the process's clock. */
export interface FailedAttemptCount {
  readonly failedAttempts: number
  readonly windowEndsAt: number
  /** Number of blocks so far; determines the length of the next one. */
  readonly blocks: number
  readonly blockedUntil: number
  readonly expiresAt: number
}

export interface FailedAttemptPolicy {
  readonly maxFailedAttempts: number
  readonly windowMs: number
  /** Each following block is twice as long. */
  readonly firstBlockMs: number
  readonly maxBlockMs: number
  /** How long a block that has ended still counts towards the length of the next. */
  readonly memoryMs: number
}

/** A client that retries an invalid token every few seconds stays below it; 256-bit secrets need no stricter one. */
export const FAILED_ATTEMPT_POLICY: FailedAttemptPolicy = {
  maxFailedAttempts: 20,
  windowMs: 60_000,
  firstBlockMs: 60_000,
  maxBlockMs: 10 * 60_000,
  memoryMs: 15 * 60_000,
}

const NONE: FailedAttemptCount = {
  failedAttempts: 0,
  windowEndsAt: 0,
  blocks: 0,
  blockedUntil: 0,
  expiresAt: 0,
}

/** Adds a failed attempt to a count. During a block, returns the same object. */
export function countFailedAttempt(
  count: FailedAttemptCount | undefined,
  now: number,
  policy: FailedAttemptPolicy,
): FailedAttemptCount {
  const known = count === undefined || now >= count.expiresAt ? NONE : count
  if (now < known.blockedUntil) return known
  const isInWindow = now < known.windowEndsAt
  const total = (isInWindow ? known.failedAttempts : 0) + 1
  if (total >= policy.maxFailedAttempts) return block(known, now, policy)
  const windowEndsAt = isInWindow ? known.windowEndsAt : now + policy.windowMs
  const expiresAt = Math.max(known.expiresAt, windowEndsAt)
  return { ...known, failedAttempts: total, windowEndsAt, expiresAt }
}

function block(
  { blocks }: FailedAttemptCount,
  now: number,
  policy: FailedAttemptPolicy,
): FailedAttemptCount {
  const waitMs = Math.min(policy.firstBlockMs * 2 ** blocks, policy.maxBlockMs)
  return {
    failedAttempts: 0,
    windowEndsAt: now,
    blocks: blocks + 1,
    blockedUntil: now + waitMs,
    expiresAt: now + waitMs + policy.memoryMs,
  }
}
