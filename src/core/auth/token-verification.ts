import { hash } from 'node:crypto'
import type { TokenCache } from './token-cache.ts'
import type { LastUsed } from './last-used.ts'
import type { ClientAddress } from './client-address.ts'
import { AppError, isAppError } from '../errors.ts'
import { type FailedAttemptLimiter, tooManyFailedAttempts } from './failed-attempt-limiter.ts'
import type { JwtUsers } from './jwt-users.ts'
import { createPreviouslyValidTokens } from './previously-valid.ts'
import { createThrottledLookup } from './throttled-lookup.ts'
import type { AccessTokenUser, User, UserStore } from '../users/user-store.ts'

export interface TokenVerificationOptions {
  readonly users: UserStore
  /** Without it a JWT is an invalid token. */
  readonly jwtUsers: JwtUsers | undefined
  readonly cache: TokenCache
  readonly uses: LastUsed
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
  find(secret: string, address: ClientAddress | undefined): Promise<User>

  /**
   * Whom `secret` stands for and for how long, read anew; `undefined` when it stands for nobody. For a secret that
   * `find` has just found good: it is neither counted nor refused as a guess here. With `evenExpired` also when its time
   * is over.
   */
  read(
    secret: string,
    options?: { readonly evenExpired: boolean },
  ): Promise<AccessTokenUser | undefined>
}

const SECRET = /^crt_[A-Za-z0-9_-]{43}$/
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const MAX_JWT_LENGTH = 8192

/** JWTs of blocked addresses that are verified, all addresses together: at most some percents of a core. */
const JWTS_ON_PROBATION = { max: 10, everyMs: 100 }

export function createTokenVerification(options: TokenVerificationOptions): TokenVerification {
  const { users, jwtUsers, cache, uses, failedAttempts, clock } = options
  const known = createPreviouslyValidTokens()
  const probation = createThrottledLookup(users)
  const jwtBudget = createBudget({ ...JWTS_ON_PROBATION, clock })

  async function findIssued(secret: string, blockedMs: number): Promise<User | undefined> {
    const hash = sha256(secret)
    const look = (): Promise<AccessTokenUser | undefined> =>
      blockedMs > 0 && !known.has(hash) ? probation.find(hash) : users.findAccessTokenUser(hash)
    const user = await cache.find(hash, () => known.learn(hash, look()))
    if (user?.status === 'active') uses.note(hash)
    return user
  }

  async function findByJwt(
    jwtUsers: JwtUsers,
    { jwt, blockedMs }: { readonly jwt: string; readonly blockedMs: number },
  ): Promise<User | undefined> {
    const hash = sha256(jwt)
    const look = async (): Promise<AccessTokenUser | undefined> => {
      if (blockedMs > 0 && !known.has(hash) && !jwtBudget.take()) {
        throw tooManyFailedAttempts(JWTS_ON_PROBATION.everyMs)
      }
      return await jwtUsers.find(jwt)
    }
    return await cache.find(hash, () => known.learn(hash, look()))
  }

  /** `undefined` when it stands for nobody, though it is no guess. */
  async function find(secret: string, blockedMs: number): Promise<User | undefined> {
    if (SECRET.test(secret)) {
      const user = await findIssued(secret, blockedMs)
      if (user !== undefined) return user
    } else if (jwtUsers !== undefined && secret.length <= MAX_JWT_LENGTH && JWT.test(secret)) {
      // One whose signature does not hold is refused there. Who has signed one for a user that is unknown, or is being
      // purged, has guessed nothing.
      return await findByJwt(jwtUsers, { jwt: secret, blockedMs })
    }
    throw notValid()
  }

  return {
    async find(secret, address) {
      const blockedMs = address === undefined ? 0 : (failedAttempts?.blockedMs(address) ?? 0)
      let user: User | undefined
      try {
        user = await find(secret, blockedMs)
      } catch (error) {
        if (!isAppError(error, 'access_token_invalid')) throw error
        if (blockedMs > 0) throw tooManyFailedAttempts(blockedMs)
        if (address !== undefined) failedAttempts?.note(address)
        throw error
      }
      if (user === undefined) throw notValid()
      return user
    },

    async read(secret, options) {
      if (SECRET.test(secret)) return await users.findAccessTokenUser(sha256(secret), options)
      return await jwtUsers?.find(secret, options)
    },
  }
}

function notValid(): AppError {
  return new AppError('access_token_invalid', 'The access token is not valid.')
}

/** The secret is 256 random bits, so a plain hash can't be guessed back and needs no salt. */
export function sha256(secret: string): string {
  return hash('sha256', secret)
}

interface BudgetOptions {
  readonly max: number
  readonly everyMs: number
  readonly clock: () => number
}

/** Lets `max` be taken in each stretch of `everyMs`. */
function createBudget({ max, everyMs, clock }: BudgetOptions) {
  let endsAt = Number.NEGATIVE_INFINITY
  let left = 0
  return {
    take(): boolean {
      const now = clock()
      if (now >= endsAt) [endsAt, left] = [now + everyMs, max]
      left -= 1
      return left >= 0
    },
  }
}
