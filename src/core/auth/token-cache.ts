import type { UserId } from '../users/user-id.ts'
import type { AccessTokenUser, User } from '../users/user-store.ts'

export interface TokenCacheOptions {
  /** How long an answer is believed at most, in milliseconds from when its lookup began; 0 keeps none. */
  readonly maxAgeMs: number
  /** How many answers are kept at most; the oldest goes first. */
  readonly maxEntries: number
  /** Milliseconds from any beginning, never going back. */
  readonly clock: () => number
}

export interface TokenCache {
  /**
   * The user of the token with that hash, from an answer that is young enough, or from `look`. Guarantees that no
   * answer outlives `maxAgeMs`, its token's expiry, or `forgetUser`. Calls at once for one token share one lookup. What
   * is not found and what fails is not kept, so unknown tokens take no room from known ones. Rejects as `look` does.
   */
  find(sha256: string, look: () => Promise<AccessTokenUser | undefined>): Promise<User | undefined>

  /** Guarantees that every later `find` for a token of the user looks again, also when a lookup is under way. */
  forgetUser(userId: UserId): void
}

/** Remembers for moments whom a token stands for, in bounded memory, so that a request costs no read. */
export function createTokenCache(options: TokenCacheOptions): TokenCache {
  const { maxAgeMs, maxEntries, clock } = options
  const entries = new Map<string, Entry>()
  const lookups = new Map<string, Lookup>()

  async function finish(sha256: string, lookup: Lookup): Promise<User | undefined> {
    try {
      const found = await lookup.found
      if (found !== undefined && lookups.get(sha256) === lookup) keep(sha256, { lookup, found })
      return found?.user
    } finally {
      if (lookups.get(sha256) === lookup) lookups.delete(sha256)
    }
  }

  function keep(sha256: string, answer: { lookup: Lookup; found: AccessTokenUser }): void {
    const { user, expiresInMs = Infinity } = answer.found
    // Deleted first, so that the order of the entries is that of their age.
    entries.delete(sha256)
    entries.set(sha256, { user, until: answer.lookup.startedAt + Math.min(maxAgeMs, expiresInMs) })
    const [oldest] = entries.keys()
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
  }

  return {
    async find(sha256, look) {
      const now = clock()
      const entry = entries.get(sha256)
      if (entry !== undefined && now < entry.until) return entry.user
      const running = lookups.get(sha256)
      // One that has taken longer may have read what has changed since.
      if (running !== undefined && now - running.startedAt < maxAgeMs) {
        return (await running.found)?.user
      }
      const lookup = { startedAt: now, found: look() }
      lookups.set(sha256, lookup)
      return await finish(sha256, lookup)
    },

    forgetUser(userId) {
      // Whose they are is not known yet; without its place here a lookup keeps nothing and is joined by nobody.
      lookups.clear()
      for (const [sha256, { user }] of entries) {
        if (user.userId === userId) entries.delete(sha256)
      }
    },
  }
}

interface Entry {
  readonly user: User
  /** By the clock. */
  readonly until: number
}

interface Lookup {
  readonly startedAt: number
  readonly found: Promise<AccessTokenUser | undefined>
}
