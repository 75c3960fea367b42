import { hash } from 'node:crypto'
import { isAppError } from '../errors.ts'
import { accessTokenInvalid } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import { parseClientAddress } from './client-address.ts'
import { type FailedAttemptLimiter, tooManyFailedAttempts } from './failed-attempt-limiter.ts'
import type { JwtUsers } from './jwt-users.ts'
import { createBudget, createThrottledLookup } from './throttled-lookup.ts'
import type { AccessTokenUser, User, UserStore } from '../users/user-store.ts'

export interface TokenVerificationOptions {
  readonly users: UserStore
  /** Without it a JWT is an invalid token. */
  readonly jwtUsers: JwtUsers | undefined
  /** How long an answer may be repeated, in milliseconds; 0 for never. */
  readonly cacheMs: number
  /** Told of each use of a token of an active user. Costs no input or output. */
  readonly onUse: (sha256: string) => void
  /** Without it nobody is limited. */
  readonly failedAttempts: FailedAttemptLimiter | undefined
  /** Milliseconds from any beginning, never going back. */
  readonly clock: () => number
}

export interface TokenVerification {
  /**
   * The user that `secret` stands for, whatever the status. Rejects with `access_token_invalid`; with
   * `too_many_requests` in its place where the address is blocked, or when so many unknown tokens come from blocked
   * addresses that this one was not looked up; and as the database and the JWT verifier do.
   *
   * A token that is remembered, or that was good here before, is treated alike from everywhere, so that those who share
   * an address with someone who guesses do not notice.
   */
  find(secret: string, ip: string | undefined): Promise<User>

  /**
   * Whom `secret` stands for and for how long, read anew; `undefined` when it stands for nobody. For a secret that
   * `find` has just found good: it is neither counted nor refused as a guess here. With `evenExpired` also when its time
   * is over.
   */
  read(
    secret: string,
    options?: { readonly evenExpired: boolean },
  ): Promise<AccessTokenUser | undefined>

  /** See `TokenCache`. */
  forgetUser(userId: UserId): void
}

const SECRET = /^crt_[A-Za-z0-9_-]{43}$/
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const MAX_JWT_LENGTH = 8192
const MAX_CACHED = 10_000

/** JWTs of blocked addresses that are verified, all addresses together: at most some percents of a core. */
const JWTS_ON_PROBATION = { max: 10, everyMs: 100 }

interface ShownToken {
  readonly secret: string
  /** `undefined` when it is malformed. */
  readonly kind: 'issued' | 'jwt' | undefined
  readonly hash: string
  readonly ip: string | undefined
}

export function createTokenVerification(options: TokenVerificationOptions): TokenVerification {
  const { users, jwtUsers, onUse, failedAttempts, clock } = options
  const cache = createTokenCache({ maxAgeMs: options.cacheMs, maxEntries: MAX_CACHED, clock })
  const throttled = createThrottledLookup(users)
  const jwtBudget = createBudget({ ...JWTS_ON_PROBATION, clock })

  function kindOf(secret: string): ShownToken['kind'] {
    if (SECRET.test(secret)) return 'issued'
    return jwtUsers && secret.length <= MAX_JWT_LENGTH && JWT.test(secret) ? 'jwt' : undefined
  }

  async function findAnew({ secret, kind, hash, ip }: ShownToken): Promise<User> {
    const address = ip === undefined ? undefined : parseClientAddress(ip)
    const blockedMs = address === undefined ? 0 : (failedAttempts?.blockedMs(address) ?? 0)
    try {
      if (kind === undefined) throw accessTokenInvalid()
      const user = await cache.find(hash, () => {
        const isSuspect = blockedMs > 0 && !cache.wasValid(hash)
        if (kind === 'jwt') return findJwt(secret, isSuspect)
        return isSuspect ? throttled.find(hash) : users.findAccessTokenUser(hash)
      })
      if (user !== undefined) return user
      if (kind === 'issued') throw accessTokenInvalid()
    } catch (error) {
      if (!isAppError(error, 'access_token_invalid')) throw error
      if (blockedMs > 0) throw tooManyFailedAttempts(blockedMs)
      if (address !== undefined) failedAttempts?.note(address)
      throw error
    }
    // Who has signed a JWT for a user that is unknown, or is being purged, has guessed nothing.
    throw accessTokenInvalid()
  }

  /** Rejects where the signature does not hold. */
  async function findJwt(jwt: string, isSuspect: boolean): Promise<AccessTokenUser | undefined> {
    if (!isSuspect || jwtBudget.take()) return await jwtUsers?.find(jwt)
    throw tooManyFailedAttempts(JWTS_ON_PROBATION.everyMs)
  }

  return {
    async find(secret, ip) {
      const kind = kindOf(secret)
      const hash = sha256(secret)
      const user = cache.get(hash) ?? (await findAnew({ secret, kind, hash, ip }))
      if (kind === 'issued' && user.status === 'active') onUse(hash)
      return user
    },

    forgetUser: (userId) => cache.forgetUser(userId),

    async read(secret, options) {
      if (SECRET.test(secret)) return await users.findAccessTokenUser(sha256(secret), options)
      return await jwtUsers?.find(secret, options)
    },
  }
}

/** The secret is 256 random bits, so a plain hash can't be guessed back and needs no salt. */
export function sha256(secret: string): string {
  return hash('sha256', secret)
}

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

  /** The user of the token with that hash, from an answer that is young enough. */
  get(sha256: string): User | undefined

  /** Whether the token was good the last time it was looked up. A lookup that fails says nothing about it. */
  wasValid(sha256: string): boolean

  /** Guarantees that every later `find` for a token of the user looks again, also when a lookup is under way. */
  forgetUser(userId: UserId): void
}

/** Beyond it those looked up longest ago are strangers again; only their hashes are kept. */
const MAX_VALID = 50_000

/** Remembers for moments whom a token stands for, in bounded memory, so that a request costs no read. */
export function createTokenCache(options: TokenCacheOptions): TokenCache {
  const { maxAgeMs, maxEntries, clock } = options
  const entries = new Map<string, Entry>()
  const lookups = new Map<string, Lookup>()
  const valid = new Set<string>()

  function get(sha256: string): User | undefined {
    const entry = entries.get(sha256)
    return entry !== undefined && clock() < entry.until ? entry.user : undefined
  }

  function learn(sha256: string, isValid: boolean): void {
    valid.delete(sha256)
    if (isValid) valid.add(sha256)
    const [oldest] = valid
    if (valid.size > MAX_VALID && oldest !== undefined) valid.delete(oldest)
  }

  async function finish(sha256: string, lookup: Lookup): Promise<User | undefined> {
    try {
      const found = await lookup.found
      learn(sha256, found !== undefined)
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
    get,
    wasValid: (sha256) => valid.has(sha256),

    async find(sha256, look) {
      const user = get(sha256)
      if (user !== undefined) return user
      const now = clock()
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
