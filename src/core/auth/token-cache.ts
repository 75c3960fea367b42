import type { UserId } from '../users/user-id.ts'
import type { AccessTokenUser } from '../users/user-store.ts'

export interface TokenCacheOptions {
  /** Counted from the start of the lookup; 0 disables the cache. */
  readonly maxAgeMs: number
  readonly maxEntries: number
  readonly clock: () => number
}

export interface TokenCache {
  /**
   * Returns the answer from the cache or from `look`. Guarantees that no answer outlives `maxAgeMs`, the token's expiry,
   * or `forgetUser`. Concurrent calls share a lookup. Misses and failures are not cached, so they evict no entry.
   */
  find(
    sha256: string,
    look: () => Promise<AccessTokenUser | undefined>,
  ): Promise<AccessTokenUser | undefined>

  get(sha256: string): AccessTokenUser | undefined

  /** Whether the token was valid in the last lookup that did not fail. */
  wasValid(sha256: string): boolean

  /** Guarantees that every later `find` of the user's tokens does a new lookup, even if one is running now. */
  forgetUser(userId: UserId): void
}

/** Maximum number of hashes of valid tokens. Beyond it, those looked up longest ago are dropped. */
const MAX_VALID = 50_000

/** Caches lookups briefly in bounded memory, so that a request costs no read. */
export function createTokenCache(options: TokenCacheOptions): TokenCache {
  const { maxAgeMs, maxEntries, clock } = options
  const entries = new Map<string, Entry>()
  const lookups = new Map<string, Lookup>()
  const valid = new Set<string>()

  function get(sha256: string): AccessTokenUser | undefined {
    const entry = entries.get(sha256)
    return entry !== undefined && clock() < entry.until ? entry.found : undefined
  }

  function learn(sha256: string, isValid: boolean): void {
    valid.delete(sha256)
    if (isValid) valid.add(sha256)
    const [oldest] = valid
    if (valid.size > MAX_VALID && oldest !== undefined) valid.delete(oldest)
  }

  async function finish(sha256: string, lookup: Lookup): Promise<AccessTokenUser | undefined> {
    try {
      const found = await lookup.found
      learn(sha256, found !== undefined)
      if (found !== undefined && lookups.get(sha256) === lookup) keep(sha256, { lookup, found })
      return found
    } finally {
      if (lookups.get(sha256) === lookup) lookups.delete(sha256)
    }
  }

  function keep(sha256: string, answer: { lookup: Lookup; found: AccessTokenUser }): void {
    const { found, lookup } = answer
    const lifeMs = Math.min(maxAgeMs, found.expiresInMs ?? Infinity)
    // Deleted first to keep the entries ordered by age.
    entries.delete(sha256)
    entries.set(sha256, { found, until: lookup.startedAt + lifeMs })
    const [oldest] = entries.keys()
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
  }

  return {
    get,
    wasValid: (sha256) => valid.has(sha256),

    async find(sha256, look) {
      const known = get(sha256)
      if (known !== undefined) return known
      const now = clock()
      const running = lookups.get(sha256)
      // A longer-running lookup may have read outdated rows.
      if (running !== undefined && now - running.startedAt < maxAgeMs) {
        return await running.found
      }
      const lookup = { startedAt: now, found: look() }
      lookups.set(sha256, lookup)
      return await finish(sha256, lookup)
    },

    forgetUser(userId) {
      // The user of a running lookup is not known yet; a removed lookup is neither cached nor shared.
      lookups.clear()
      for (const [sha256, { found }] of entries) {
        if (found.user.userId === userId) entries.delete(sha256)
      }
    },
  }
}

interface Entry {
  readonly found: AccessTokenUser
  readonly until: number
}

interface Lookup {
  readonly startedAt: number
  readonly found: Promise<AccessTokenUser | undefined>
}
