import { tooManyRequests } from '../errors.ts'

/**
 * Bounds how often the password of each link is tried on this instance, from all addresses together: 20 times, and then
 * once every 10 s. A right password is given back, and so neither counts nor makes room for wrong ones.
 */
export interface GuessLimiter {
  /** Throws `too_many_requests` if no try may begin. No I/O. */
  assertMayTry(link: string): void

  /** As `assertMayTry`, and counts a try. */
  beginTry(link: string): void

  /** Takes back a try, which was right. */
  giveBack(link: string): void
}

const MAX_TRIES = 20
const TRY_MS = 10_000

/** Beyond it, the links that were tried longest ago are forgotten. */
const MAX_LINKS = 10_000

/** A token bucket for each link that was tried lately. */
export function createGuessLimiter(clock: () => number = () => performance.now()): GuessLimiter {
  /** When all tries are there again. */
  const fullAt = new Map<string, number>()

  function waitMs(link: string): number {
    return (fullAt.get(link) ?? 0) - clock() - (MAX_TRIES - 1) * TRY_MS
  }

  function assertMayTry(link: string): void {
    const ms = waitMs(link)
    if (ms > 0) throw tooManyRequests('Too many passwords of this link have been tried.', ms)
  }

  return {
    assertMayTry,

    beginTry(link) {
      assertMayTry(link)
      const at = Math.max(clock(), fullAt.get(link) ?? 0) + TRY_MS
      fullAt.delete(link)
      fullAt.set(link, at)
      const [quietest] = fullAt.keys()
      if (fullAt.size > MAX_LINKS && quietest !== undefined) fullAt.delete(quietest)
    },

    giveBack(link) {
      const at = (fullAt.get(link) ?? 0) - TRY_MS
      if (at > clock()) fullAt.set(link, at)
      else fullAt.delete(link)
    },
  }
}
