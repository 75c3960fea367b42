import { createLocalJWKSet, type CryptoKey, errors, type JWTHeaderParameters } from 'jose'
import { timeoutSignal } from '../core/async/deadline.ts'
import { AppError } from '../core/errors.ts'
import { accessTokenInvalid } from '../core/users/caller.ts'
import { fetchJwks } from './fetch-jwks.ts'

export interface KeySetOptions {
  readonly jwksUrl: string
  /** How long the answer to one request may take, in milliseconds: 3000 when left out. */
  readonly timeoutMs?: number
  /** Milliseconds from any beginning, never going back. */
  readonly clock?: () => number
}

/** The key that a JWT's header names. */
export type KeySet = (header: JWTHeaderParameters) => Promise<CryptoKey>

/**
 * The keys under a URL, fetched when they are first needed, when they are old, and when a JWT names one that is not
 * among them; never more often than every `COOLDOWN_MS`, whether the last request succeeded or not and however many
 * ask. (The remote key set of `jose` counts only successes, and drops keys that are old while the URL can't be reached.)
 * Rejects with `access_token_invalid` when no key has that name, and with `unavailable` when that is not known.
 */
export function createKeySet(options: KeySetOptions): KeySet {
  const { jwksUrl, timeoutMs = TIMEOUT_MS, clock = () => performance.now() } = options
  let keys: LocalKeys | undefined
  let fetchedAt = Number.NEGATIVE_INFINITY
  let attemptEndedAt = Number.NEGATIVE_INFINITY
  let failure: unknown
  let attempt: Promise<void> | undefined

  async function fetchKeys(): Promise<void> {
    const startedAt = clock()
    try {
      keys = createLocalJWKSet(await fetchJwks(jwksUrl, timeoutSignal(timeoutMs)))
      fetchedAt = startedAt
      failure = undefined
    } catch (error) {
      failure = error ?? new Error('The keys could not be fetched.')
    } finally {
      attempt = undefined
      attemptEndedAt = clock()
    }
  }

  /** Never rejects; what failed is in `failure`. */
  async function refresh(): Promise<void> {
    if (attempt === undefined && clock() - attemptEndedAt >= COOLDOWN_MS) {
      attempt = fetchKeys()
    }
    await attempt
  }

  async function refreshWhenOld(): Promise<void> {
    if (clock() - fetchedAt < MAX_AGE_MS) return
    const wasReachable = failure === undefined
    const refreshed = refresh()
    // While the URL is out of reach nobody waits for it whose key may be here.
    if (keys === undefined || wasReachable) await refreshed
  }

  return async (header) => {
    if (typeof header.kid !== 'string') throw accessTokenInvalid()
    await refreshWhenOld()
    const known = keys && (await find(keys, header))
    if (known !== undefined) return known
    await refresh()
    const fresh = keys && (await find(keys, header))
    if (fresh !== undefined) return fresh
    if (failure === undefined) throw accessTokenInvalid()
    throw unusable(failure)
  }
}

/** From the end of a request to the next. A new key is known at most that long after it was published. */
const COOLDOWN_MS = 5_000

/** A key that is published no longer is refused after that. */
const MAX_AGE_MS = 5 * 60_000
const TIMEOUT_MS = 3_000

type LocalKeys = ReturnType<typeof createLocalJWKSet>

async function find(keys: LocalKeys, header: JWTHeaderParameters): Promise<CryptoKey | undefined> {
  try {
    return await keys(header)
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return undefined
    throw unusable(error)
  }
}

function unusable(cause: unknown): AppError {
  return new AppError('unavailable', 'The keys of the identity provider are not to be had.', {
    cause,
  })
}
