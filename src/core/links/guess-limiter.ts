import type { ClientAddress } from '../auth/client-address.ts'
import { tooManyRequests } from '../errors.ts'

/**
 * Bounds how often the password of each link is tried on this instance. A right password is given back, and so neither
 * counts nor makes room for wrong ones. No I/O.
 */
export interface GuessLimiter {
  /** Throws `too_many_requests` if no try may begin. */
  assertMayTry(tried: Tried): void

  /** As `assertMayTry`, and counts a try. */
  beginTry(tried: Tried): void

  /** Takes back a try, which was right. */
  giveBack(tried: Tried): void
}

export interface Tried {
  readonly link: string
  readonly address: ClientAddress
}

/** One address cannot use up what all have: it gets less than comes back. */
export function createGuessLimiter(clock: () => number = () => performance.now()): GuessLimiter {
  const ofAddress = createTries({ max: 10, everyMs: 60_000, clock })
  const ofAll = createTries({ max: 100, everyMs: 10_000, clock })
  const ofBoth = (tried: Tried, apply: (tries: Tries, key: string) => void): void => {
    apply(ofAddress, `${tried.link} ${tried.address}`)
    apply(ofAll, tried.link)
  }
  const assertMayTry = (tried: Tried): void => {
    ofBoth(tried, (tries, key) => tries.assertMayTry(key))
  }
  return {
    assertMayTry,
    beginTry(tried) {
      assertMayTry(tried)
      ofBoth(tried, (tries, key) => tries.begin(key))
    },
    giveBack: (tried) => ofBoth(tried, (tries, key) => tries.giveBack(key)),
  }
}

interface TriesOptions {
  /** That are made at once. */
  readonly max: number
  /** How long until another one comes back. */
  readonly everyMs: number
  readonly clock: () => number
}

type Tries = ReturnType<typeof createTries>

/** Beyond it, what was tried longest ago is forgotten. */
const MAX_KEYS = 10_000

/** A token bucket for each key that was tried lately. */
function createTries({ max, everyMs, clock }: TriesOptions) {
  /** When all tries are there again. */
  const fullAt = new Map<string, number>()

  function waitMs(key: string): number {
    return (fullAt.get(key) ?? 0) - clock() - (max - 1) * everyMs
  }

  function assertMayTry(key: string): void {
    const ms = waitMs(key)
    if (ms > 0) throw tooManyRequests('Too many passwords of this link have been tried.', ms)
  }

  return {
    assertMayTry,

    begin(key: string): void {
      const at = Math.max(clock(), fullAt.get(key) ?? 0) + everyMs
      fullAt.delete(key)
      fullAt.set(key, at)
      const [quietest] = fullAt.keys()
      if (fullAt.size > MAX_KEYS && quietest !== undefined) fullAt.delete(quietest)
    },

    giveBack(key: string): void {
      const at = (fullAt.get(key) ?? 0) - everyMs
      if (at > clock()) fullAt.set(key, at)
      else fullAt.delete(key)
    },
  }
}
