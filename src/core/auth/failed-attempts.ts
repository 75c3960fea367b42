/** How often an address was wrong about tokens, in milliseconds of whichever clock it is kept by. */
export interface FailedAttemptCount {
  /** In the window. */
  readonly failedAttempts: number
  readonly windowEndsAt: number
  /** How often it has been blocked, while that is remembered. */
  readonly blocks: number
  readonly blockedUntil: number
  /** From then on nothing of it is remembered. */
  readonly expiresAt: number
}

export interface FailedAttemptPolicy {
  /** An address that is wrong so often within a window is blocked. */
  readonly maxFailedAttempts: number
  readonly windowMs: number
  /** The first block; each that follows is twice as long. */
  readonly firstBlockMs: number
  readonly maxBlockMs: number
  /** After a block, how long it is remembered for the length of the next. */
  readonly memoryMs: number
}

/** A product that has lost its token and asks every few seconds stays below it; 256 bits need no stricter one. */
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

export interface FailedAttempts {
  readonly failedAttempts: number
  readonly now: number
}

/** What a count becomes by further guesses. While it is blocked it stays the very same: there is nothing to write. */
export function countFailedAttempts(
  count: FailedAttemptCount | undefined,
  { failedAttempts, now }: FailedAttempts,
  policy: FailedAttemptPolicy,
): FailedAttemptCount {
  const known = count === undefined || now >= count.expiresAt ? NONE : count
  if (now < known.blockedUntil) return known
  const isInWindow = now < known.windowEndsAt
  const total = (isInWindow ? known.failedAttempts : 0) + failedAttempts
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
