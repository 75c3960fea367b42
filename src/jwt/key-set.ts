import { createLocalJWKSet, type CryptoKey, errors, type JWTHeaderParameters } from 'jose'
import { timeoutSignal } from '../core/async/deadline.ts'
import { AppError } from '../core/errors.ts'
import { accessTokenInvalid } from '../core/users/caller.ts'
import { fetchJwks } from './fetch-jwks.ts'

export interface KeySetOptions {
  readonly jwksUrl: string
  /** Per request; 3000 by default. */
  readonly timeoutMs?: number
  readonly clock?: () => number
}

export type KeySet = (header: JWTHeaderParameters) => Promise<CryptoKey>

/**
 * Fetches the keys on first use, when they are old, and for an unknown key, but waits `COOLDOWN_MS` after every
 * attempt. (The remote key set of `jose` counts only successes, and drops old keys while the URL is unreachable.)
 * Rejects with `access_token_invalid` if there is no such key, and with `unavailable` if that is unknown.
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
    // While the URL is unreachable, cached keys are used without a wait.
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

/** From the end of an attempt to the next; bounds how long a new key is unknown. */
const COOLDOWN_MS = 5_000

/** A withdrawn key is refused within this time. */
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
  return new AppError('unavailable', 'The keys of the identity provider are unavailable.', {
    cause,
  })
}
