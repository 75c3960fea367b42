import { AppError, invalidParameter } from '../errors.ts'
import type { DropLimits, Link } from './link.ts'

/** The members of a request that name the limits. */
const PARAMETERS = { maxBytes: 'max_bytes', maxFiles: 'max_files' } as const

/**
 * The limits of a drop link for which these are asked, where `permitted` is both the default and the maximum. Throws
 * `invalid_parameter`.
 */
export function limitsWithin(asked: AskedLimits, permitted: DropLimits): DropLimits {
  return {
    maxBytes: limitWithin(asked, permitted, 'maxBytes'),
    maxFiles: limitWithin(asked, permitted, 'maxFiles'),
  }
}

/** `undefined` and `null` ask for as much as is permitted. */
export type AskedLimits = { readonly [L in keyof DropLimits]?: number | null | undefined }

function limitWithin(asked: AskedLimits, permitted: DropLimits, limit: keyof DropLimits) {
  const most = permitted[limit]
  const value = asked[limit] ?? most
  if (value === undefined) return undefined
  const max = most ?? Number.MAX_SAFE_INTEGER
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return value
  const parameter = PARAMETERS[limit]
  throw invalidParameter(parameter, `${parameter} must be an integer between 1 and ${max} here.`)
}

/** Throws `invalid_parameter` if limits are asked for a link that receives nothing. */
export function assertReceives({ kind }: Pick<Link, 'kind'>, asked: AskedLimits): void {
  if (kind === 'drop') return
  for (const limit of ['maxBytes', 'maxFiles'] as const) {
    if (asked[limit] === undefined) continue
    const parameter = PARAMETERS[limit]
    throw invalidParameter(parameter, `${parameter} is for drop links.`)
  }
}

/** What a drop link has received, and what uploads in progress hold of its limits. */
export interface Received extends DropLimits {
  readonly receivedBytes: number
  readonly receivedFiles: number
  /** Of other uploads by the link. */
  readonly others: { readonly bytes: number; readonly files: number }
  /** Of the upload itself. */
  readonly ownBytes: number
}

/**
 * Why the link does not receive a file of this size: what it has received and is receiving never exceeds its limits.
 * `undefined` if it does receive the file. An upload that has begun keeps its place, except beyond a limit that was
 * lowered since.
 */
export function dropRefusal(
  link: Received,
  { bytes, isBegun }: { readonly bytes: number; readonly isBegun: boolean },
): AppError | undefined {
  const { maxBytes = Infinity, maxFiles = Infinity, receivedBytes, receivedFiles, others } = link
  const files = receivedFiles + (isBegun ? 0 : others.files)
  if (files + 1 > maxFiles) return limitExceeded('This link takes no more files.')
  const taken = receivedBytes + (isBegun && bytes <= link.ownBytes ? 0 : others.bytes)
  if (taken + bytes <= maxBytes) return undefined
  return limitExceeded('This link does not take so many bytes any more.')
}

function limitExceeded(detail: string): AppError {
  return new AppError('link_limit_exceeded', detail)
}

/** What a drop link still receives if the uploads in progress fail; `undefined` without a limit. */
export function dropsLeft({ maxBytes, maxFiles, receivedBytes, uses }: Link) {
  return {
    bytes: maxBytes === undefined ? undefined : Math.max(0, maxBytes - receivedBytes),
    files: maxFiles === undefined ? undefined : Math.max(0, maxFiles - uses),
  }
}
