import { createHash, timingSafeEqual } from 'node:crypto'
import type { ClientAddress } from '../core/client-address.ts'
import { type GuessLimiter, tooManyGuesses } from '../core/guess-limiter.ts'

/** The cookie in which a browser keeps it: not a user's, since cookies know a host but no port. */
export const ADMIN_TOKEN_COOKIE = 'admin_token'

/** The token of the deployment, which a request has to show. */
export interface AdminToken {
  /**
   * Whether this is it, in a time that does not tell how much of it is right. A wrong one is counted as a guess, and
   * throws `too_many_requests` where its address has shown too many; the right one is let in from everywhere.
   */
  isRight(shown: string, address: ClientAddress): boolean

  /** The same for what nobody is told about: counts nothing, and throws nothing. */
  isSame(shown: string): boolean
}

export interface AdminTokenOptions {
  readonly token: string
  readonly guesses: GuessLimiter
}

export function createAdminToken({ token, guesses }: AdminTokenOptions): AdminToken {
  const expected = digestOf(token)
  const isSame = (shown: string): boolean => timingSafeEqual(digestOf(shown), expected)
  return {
    isSame,
    isRight(shown, address) {
      if (isSame(shown)) return true
      const blockedMs = guesses.blockedMs(address)
      if (blockedMs > 0) throw tooManyGuesses(blockedMs)
      guesses.note(address)
      return false
    },
  }
}

// Digests are of one length, so that comparing them takes one time whatever was shown.
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
