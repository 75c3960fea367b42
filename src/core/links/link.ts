import { expiresTooLate } from '../auth/scope.ts'
import { MAX_EXPIRES_IN_SECONDS } from '../auth/terms.ts'
import { AppError, invalidParameter, tooManyRequests } from '../errors.ts'
import type { FileName, FileNamePrefix } from '../files/file-name.ts'

/** `scopeOfLink` in `core/auth/subject.ts` says what visitors may do by each. */
export const LINK_KINDS = ['download', 'drop'] as const

export type LinkKind = (typeof LINK_KINDS)[number]

/** The files of a link: one, or those whose names begin with a prefix, which a drop link puts in front of new names. */
export type LinkTarget =
  | { readonly name: FileName; readonly prefix?: undefined }
  | { readonly name?: undefined; readonly prefix: FileNamePrefix }

/** How much a drop link receives at most, whatever becomes of the files; `undefined` is no limit. */
export interface DropLimits {
  readonly maxBytes: number | undefined
  readonly maxFiles: number | undefined
}

/** A link, without its secret. Times are milliseconds since 1970 by the database's clock. */
export interface Link extends DropLimits {
  /** In the order of creation. */
  readonly linkId: string
  readonly kind: LinkKind
  readonly target: LinkTarget
  readonly label: string
  readonly createdAt: number
  readonly expiresAt: number | undefined
  readonly maxUses: number | undefined
  /** Counted only for a drop link, where it is the number of received files, and for one with `maxUses`. */
  readonly uses: number
  /** What has been sent of the next use, in units of `1 / USE_UNITS`. */
  readonly useFraction: number
  /** Of a link with a password, as `hashPassword` returns it. */
  readonly passwordHash: string | undefined
  /** Of a drop link. */
  readonly receivedBytes: number
}

/** Per user, ended ones included. */
export const MAX_LINKS = 1_000

/** The uses that are left, the begun one included; 0 once the link has ended. */
export function usesLeft({ maxUses, uses }: Pick<Link, 'maxUses' | 'uses'>): number | undefined {
  return maxUses === undefined ? undefined : Math.max(0, maxUses - uses)
}

interface AskedExpiry {
  /** `null`: the latest time that is permitted, or no end. */
  readonly asked: number | null
  readonly now: number
  /** The longest life of any link, from now. */
  readonly maxLifeMs: number | undefined
  /** The end of the token that has made the link, if the link must not outlive that. */
  readonly makerEndsAt: number | undefined
}

/**
 * The new end of a link that exists, in milliseconds since 1970; `undefined` for none. Throws `invalid_parameter` for
 * one in the past, or later than `maxLifeMs`, and `scope_insufficient` for one after that of its maker.
 */
export function expiryWithin({ asked, now, maxLifeMs, makerEndsAt = Infinity }: AskedExpiry) {
  const latest = maxLifeMs === undefined ? Infinity : now + maxLifeMs
  if (asked === null) {
    const end = Math.min(latest, makerEndsAt)
    return end === Infinity ? undefined : end
  }
  const longest = maxLifeMs ?? MAX_EXPIRES_IN_SECONDS * 1000
  if (asked <= now || asked > now + longest) {
    const seconds = Math.floor(longest / 1000)
    const detail = `expires_at of a link must be in the future, by at most ${seconds} seconds here.`
    throw invalidParameter('expires_at', detail)
  }
  if (asked > makerEndsAt) throw expiresTooLate('expires_at')
  return asked
}

/** How many files the link still gives whole. */
export function wholeUsesLeft(
  link: Pick<Link, 'maxUses' | 'uses' | 'useFraction'>,
): number | undefined {
  const left = usesLeft(link)
  return left === undefined || link.useFraction <= ROUNDING_UNITS ? left : Math.max(0, left - 1)
}

/** Of all links of an account, in progress or unfinished: half of what the owner may have by default. */
const MAX_DROPS = 50

/**
 * Throws `too_many_requests` if the link has as many drops as it has uses left, or all links of its owner as many as the
 * owner can spare.
 */
export function assertMoreDrops(
  link: Pick<Link, 'maxUses' | 'uses'>,
  { ofLink, ofAll }: { readonly ofLink: number; readonly ofAll: number },
): void {
  if (ofLink < (usesLeft(link) ?? MAX_DROPS) && ofAll < MAX_DROPS) return
  throw tooManyRequests('Too many files are being sent by this link.', 5_000)
}

/** One error for every link that cannot be used, so that visitors cannot tell why. */
export function linkNotFound(): AppError {
  return new AppError('not_found', 'This link does not exist or has ended.')
}

/**
 * How often a link was used. A use is the whole size of a file, so a part of the file is a fraction of a use, in units of
 * `1 / USE_UNITS`.
 */
export interface Uses {
  readonly whole: number
  /** Less than `USE_UNITS`. */
  readonly fraction: number
}

/** In one use: two fractions and their sum stay exact integers. */
export const USE_UNITS = 2 ** 50

/**
 * Units by which the uses of a link may exceed their maximum: each range is rounded up by less than one, and the ranges
 * of a file must fit in one use. It is less than a byte of a file of 1 GiB.
 */
export const ROUNDING_UNITS = 2 ** 20

export const ONE_USE: Uses = { whole: 1, fraction: 0 }

/** The uses that sending the bytes counts as, rounded up; the content of an empty file is one. */
export function usesOf(bytes: number, size: number): Uses {
  if (bytes >= size) return ONE_USE
  return asUses((units(bytes) + BigInt(size) - 1n) / BigInt(size))
}

/** What is given back of `usesOf(bytes, size)` if the last bytes were not sent: never more than they have counted. */
export function usesUnsent(unsent: number, size: number): Uses {
  if (size === 0) return { whole: 0, fraction: 0 }
  return asUses(units(unsent) / BigInt(size))
}

function units(bytes: number): bigint {
  return BigInt(bytes) * BigInt(USE_UNITS)
}

function asUses(all: bigint): Uses {
  const use = BigInt(USE_UNITS)
  return { whole: Number(all / use), fraction: Number(all % use) }
}
