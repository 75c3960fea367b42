import type { AppError } from '../errors.ts'
import { tooManyRequests } from '../errors.ts'

/** Of each account. A narrow credential has a share of each (`shareOf`). */
export interface AccountLimits {
  readonly maxFiles: number
  /** Uploads in progress, except resumable ones that no request holds. */
  readonly maxUploads: number
  /** Unfinished resumable uploads. */
  readonly maxUnfinished: number
}

/** What of an account's limit is in use: by all its credentials, and by a narrow one, if that asks for more. */
export interface Held {
  readonly all: number
  /** `undefined` for a token without a scope, and for operators. */
  readonly own: number | undefined
}

/** What a narrow credential is held to. */
export interface Share {
  /** Most that one narrow credential holds: a quarter. */
  readonly own: number
  /** Most that all hold before narrow ones are refused: the last tenth is for others. */
  readonly all: number
}

/** The bound that one more would exceed. */
export interface Reached {
  readonly bound: number
  readonly of: 'user' | 'credential' | 'others'
}

/**
 * The share of a limit of an account that a narrow credential can take (README.md). At least 1, so that a narrow
 * credential alone can do anything that is permitted at all.
 */
export function shareOf(limit: number): Share {
  const rest = limit - Math.ceil(limit / 10)
  return { own: Math.ceil(limit / 4), all: Math.max(Math.min(limit, 1), rest) }
}

/** The part of a limit that only the number of all tells: the whole, or for a narrow credential all but a tenth. */
export function limitFor(limit: number, credential: string | undefined): number {
  return credential === undefined ? limit : shareOf(limit).all
}

/** The bound that `more` would exceed; `undefined` if there is room. */
export function reachedBound(limit: number, { all, own }: Held, more = 1): Reached | undefined {
  if (all + more > limit) return { bound: limit, of: 'user' }
  if (own === undefined) return undefined
  const share = shareOf(limit)
  if (own + more > Math.max(share.own, more)) return { bound: share.own, of: 'credential' }
  if (all + more > Math.max(share.all, more)) return { bound: share.all, of: 'others' }
  return undefined
}

/** The detail of a refusal; `counted` is a plural noun, `whose` who has the limit. */
export function explainReached({ bound, of }: Reached, counted: string, whose = 'user'): string {
  if (of === 'user') return `This ${whose} already has the maximum of ${bound} ${counted}.`
  if (of === 'credential') {
    return `This access token or link already has its share of ${bound} ${counted}.`
  }
  return `This user already has ${bound} ${counted}; the rest is reserved for access tokens without a scope.`
}

export function tooManyOf(
  reached: Reached,
  counted: string,
  { waitMs, whose }: { readonly waitMs: number; readonly whose?: string },
): AppError {
  return tooManyRequests(explainReached(reached, counted, whose), waitMs)
}
