import { AppError, formatError, isAppError } from '../errors.ts'
import { BoundedMap } from '../bounded-map.ts'
import { accessTokenInvalid } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import { parseClientAddress } from './client-address.ts'
import { type FailedAttemptLimiter, tooManyFailedAttempts } from './failed-attempt-limiter.ts'
import type { JwtUsers } from './jwt-users.ts'
import { createLookupBudget } from './lookup-budget.ts'
import { sha256 } from './sha256.ts'
import type { AccessTokenStore, AccessTokenUser } from './access-token-store.ts'

export interface TokenVerificationOptions {
  readonly users: AccessTokenStore
  readonly jwtUsers: JwtUsers | undefined
  readonly cacheMs: number
  /** Called each time an active user's access token is used, but not for JWTs. No I/O. */
  readonly onUse: (sha256: string) => void
  /** If `undefined`, guessing is not limited. */
  readonly failedAttempts: FailedAttemptLimiter | undefined
  readonly clock: () => number
}

const SECRET = /^crt_[A-Za-z0-9_-]{43}$/
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const MAX_JWT_LENGTH = 8192
const MAX_CACHED = 10_000

/** Tokens of each kind that may be valid, for all blocked addresses together: they cost at most a tenth of a core. */
const PROBATION = { issued: 100, jwt: 10 } as const
const PROBATION_MS = 100

// Causes, for the log.
const UNKNOWN_FORM = formatError(
  `Neither an access token nor a JWT of up to ${MAX_JWT_LENGTH} bytes.`,
)
const UNKNOWN_USER = new AppError(
  'not_found',
  'The user of the JWT, or the device in its scope, does not exist.',
)

interface ShownToken {
  readonly secret: string
  readonly kind: 'issued' | 'jwt' | undefined
  readonly hash: string
  readonly ip: string | undefined
}

export function createTokenVerification(options: TokenVerificationOptions) {
  const { users, jwtUsers, onUse, failedAttempts, clock } = options
  const cache = createTokenCache({ maxAgeMs: options.cacheMs, maxEntries: MAX_CACHED, clock })
  const probation = {
    issued: createLookupBudget({ max: PROBATION.issued, everyMs: PROBATION_MS, clock }),
    jwt: createLookupBudget({ max: PROBATION.jwt, everyMs: PROBATION_MS, clock }),
  }

  function kindOf(secret: string): ShownToken['kind'] {
    if (SECRET.test(secret)) return 'issued'
    return jwtUsers && secret.length <= MAX_JWT_LENGTH && JWT.test(secret) ? 'jwt' : undefined
  }

  async function findAnew({ secret, kind, hash, ip }: ShownToken): Promise<AccessTokenUser> {
    const address = ip === undefined ? undefined : parseClientAddress(ip)
    const blockedMs = address === undefined ? 0 : (failedAttempts?.blockedMs(address) ?? 0)
    try {
      if (kind === undefined) throw accessTokenInvalid(UNKNOWN_FORM)
      const found = await cache.find(hash, async () => {
        const isSuspect = blockedMs > 0 && !cache.wasValid(hash)
        if (isSuspect && !probation[kind].take()) throw tooManyFailedAttempts(PROBATION_MS)
        return await read(secret)
      })
      if (found !== undefined) return found
      if (kind === 'issued') throw accessTokenInvalid()
    } catch (error) {
      if (!isAppError(error, 'access_token_invalid')) throw error
      if (blockedMs > 0) throw tooManyFailedAttempts(blockedMs)
      if (address !== undefined) failedAttempts?.note(address)
      throw error
    }
    // The signature holds, so this is no guess: the user is unknown or being purged.
    throw accessTokenInvalid(UNKNOWN_USER)
  }

  async function read(
    secret: string,
    options?: { readonly evenExpired: boolean },
  ): Promise<AccessTokenUser | undefined> {
    if (SECRET.test(secret)) return await users.findAccessTokenUser(sha256(secret), options)
    return await jwtUsers?.find(secret, options)
  }

  return {
    /**
     * Reads the user again, for a secret that `find` has accepted. Counts no failed attempt. With `evenExpired`,
     * accepts an expired secret.
     */
    read,

    /**
     * Returns what `secret` stands for, whatever its user's status. Rejects with `access_token_invalid`, or instead
     * with `too_many_requests` if the address is blocked or too many unknown tokens come from blocked addresses; also
     * as `users` and `jwtUsers` do. Accepts cached or formerly valid tokens from blocked addresses, because other users
     * may share such an address.
     */
    async find(secret: string, ip: string | undefined): Promise<AccessTokenUser> {
      const kind = kindOf(secret)
      const hash = sha256(secret)
      const found = cache.get(hash) ?? (await findAnew({ secret, kind, hash, ip }))
      if (kind === 'issued' && found.user.status === 'active') onUse(hash)
      return found
    },

    forgetUser: (userId: UserId) => cache.forgetUser(userId),
  }
}

interface TokenCacheOptions {
  /** Counted from the start of the lookup; 0 disables the cache. */
  readonly maxAgeMs: number
  readonly maxEntries: number
  readonly clock: () => number
}

export type TokenCache = ReturnType<typeof createTokenCache>

/** Maximum number of hashes of valid tokens. Beyond it, those looked up longest ago are forgotten. */
const MAX_VALID = 50_000

/** Caches lookups briefly in bounded memory, so that a request costs no read. */
export function createTokenCache(options: TokenCacheOptions) {
  const { maxAgeMs, maxEntries, clock } = options
  const entries = new BoundedMap<string, Entry>(maxEntries)
  const lookups = new Map<string, Lookup>()
  const valid = new BoundedMap<string, true>(MAX_VALID)

  function get(sha256: string): AccessTokenUser | undefined {
    const entry = entries.get(sha256)
    return entry !== undefined && clock() < entry.until ? entry.found : undefined
  }

  async function finish(sha256: string, lookup: Lookup): Promise<AccessTokenUser | undefined> {
    try {
      const found = await lookup.found
      if (found === undefined) valid.delete(sha256)
      else valid.set(sha256, true)
      if (found !== undefined && lookups.get(sha256) === lookup) keep(sha256, { lookup, found })
      return found
    } finally {
      if (lookups.get(sha256) === lookup) lookups.delete(sha256)
    }
  }

  function keep(sha256: string, answer: { lookup: Lookup; found: AccessTokenUser }): void {
    const { found, lookup } = answer
    const lifeMs = Math.min(maxAgeMs, found.expiresInMs ?? Infinity)
    entries.set(sha256, { found, until: lookup.startedAt + lifeMs })
  }

  return {
    get,
    /** Whether the token was valid in the last lookup that did not fail. */
    wasValid: (sha256: string) => valid.get(sha256) ?? false,

    /**
     * Returns the answer from the cache or from `look`. Guarantees that no answer outlives `maxAgeMs`, the token's
     * expiry, or `forgetUser`. Concurrent calls share a lookup. Misses and failures are not cached, so they evict no
     * entry.
     */
    async find(
      sha256: string,
      look: () => Promise<AccessTokenUser | undefined>,
    ): Promise<AccessTokenUser | undefined> {
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

    /** Guarantees that every later `find` of the user's tokens does a new lookup, even if one is running now. */
    forgetUser(userId: UserId): void {
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
