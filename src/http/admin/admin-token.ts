import { createHash, timingSafeEqual } from 'node:crypto'
import type { ClientAddress } from '../../core/auth/client-address.ts'
import {
  type FailedAttemptLimiter,
  tooManyFailedAttempts,
} from '../../core/auth/failed-attempt-limiter.ts'

/** The token of the deployment, which a request has to show. */
export interface AdminToken {
  /**
   * Whether this is it, in a time that does not tell how much of it is right. A wrong one is counted as a guess, and
   * throws `too_many_requests` where its address has shown too many; the right one is let in from everywhere.
   */
  isRight(shown: string, address: ClientAddress): boolean

  /** Counts a guess of another kind as a wrong token is counted, or throws as for one. */
  noteFailedAttempt(address: ClientAddress): void
}

export interface AdminTokenOptions {
  readonly token: string
  readonly failedAttempts: FailedAttemptLimiter
}

export function createAdminToken({ token, failedAttempts }: AdminTokenOptions): AdminToken {
  const expected = digestOf(token)

  function noteFailedAttempt(address: ClientAddress): void {
    const blockedMs = failedAttempts.blockedMs(address)
    if (blockedMs > 0) throw tooManyFailedAttempts(blockedMs)
    failedAttempts.note(address)
  }

  return {
    noteFailedAttempt,
    isRight(shown, address) {
      if (timingSafeEqual(digestOf(shown), expected)) return true
      noteFailedAttempt(address)
      return false
    },
  }
}

// Digests are of one length, so that comparing them takes one time whatever was shown.
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
