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
