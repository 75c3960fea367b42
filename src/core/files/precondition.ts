import { AppError } from '../errors.ts'
import { type Dated, lastModified } from './last-modified.ts'
import type { Version } from '../objects/object-key.ts'

/** Etags without quotes, one of which must match. `*` matches any file. */
export type EntityTags = '*' | readonly string[]

/** Conditions on the current file of the name (RFC 9110 section 13.1). */
export interface Precondition {
  /** Without the weak ones, which never match; so none if all were weak. */
  readonly ifMatch?: EntityTags | undefined
  readonly ifNoneMatch?: EntityTags | undefined
  /** Milliseconds since 1970; ignored if `ifMatch` is present. */
  readonly ifUnmodifiedSince?: number | undefined
  /** The name must have a file. Unlike `ifMatch`, it leaves `ifUnmodifiedSince` in force. */
  readonly mustExist?: boolean | undefined
}

/** What a precondition compares of a file. */
export interface Comparable extends Dated {
  readonly version: Version
}

/** Evaluates the precondition of a write. `file` is `undefined` if the name has no file. */
export function isMet(precondition: Precondition, file: Comparable | undefined): boolean {
  const { ifMatch, ifNoneMatch, mustExist } = precondition
  if (mustExist === true && file === undefined) return false
  const matched = ifMatch === undefined ? isUnmodified(precondition, file) : has(ifMatch, file)
  return matched && (ifNoneMatch === undefined || !has(ifNoneMatch, file))
}

export function preconditionFailed({ ifMatch }: Precondition = {}): AppError {
  const isWeak = Array.isArray(ifMatch) && ifMatch.length === 0
  return new AppError(
    'precondition_failed',
    isWeak ? WEAK_TAGS : 'A precondition of the request does not hold.',
  )
}

const WEAK_TAGS =
  'If-Match has weak entity tags (W/"...") only, which match no file. The service sends strong ones: a proxy that ' +
  'compresses responses has weakened them. Send the etag without W/, or turn that compression off.'

export function includesEntityTag(tags: EntityTags, etag: string): boolean {
  return tags === '*' || tags.includes(etag)
}

/** Takes milliseconds and compares whole seconds, the resolution of `Last-Modified`. */
export function isModifiedSince(modifiedAt: number, since: number): boolean {
  return Math.floor(modifiedAt / 1000) > Math.floor(since / 1000)
}

function has(tags: EntityTags, file: Comparable | undefined): boolean {
  return file !== undefined && includesEntityTag(tags, file.version)
}

function isUnmodified({ ifUnmodifiedSince }: Precondition, file: Comparable | undefined): boolean {
  if (ifUnmodifiedSince === undefined || file === undefined) return true
  return !isModifiedSince(lastModified(file), ifUnmodifiedSince)
}
