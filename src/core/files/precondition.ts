import { AppError } from '../errors.ts'
import type { File } from './file.ts'

/** Entity-tags without their quotes, of which one has to match; `*` matches whatever is there. */
export type EntityTags = '*' | readonly string[]

/** What a request demands of the file of that name (RFC 9110 section 13.1); nothing where a member is absent. */
export interface Precondition {
  /** There is a file, with one of these tags. */
  readonly ifMatch?: EntityTags | undefined
  /** There is no file, or none with one of these tags. */
  readonly ifNoneMatch?: EntityTags | undefined
  /** The file is no newer than that, in milliseconds since 1970. Not looked at beside `ifMatch`. */
  readonly ifUnmodifiedSince?: number | undefined
}

/** Whether `file`, or that there is none, is what the precondition of a write demands. */
export function isMet(precondition: Precondition, file: File | undefined): boolean {
  const { ifMatch, ifNoneMatch } = precondition
  const matched = ifMatch === undefined ? isUnmodified(precondition, file) : has(ifMatch, file)
  return matched && (ifNoneMatch === undefined || !has(ifNoneMatch, file))
}

/** The refusal of a request whose precondition is not met. */
export function preconditionFailed(): AppError {
  return new AppError('precondition_failed', 'The file is not as the request demands.')
}

/** Whether the tag of what is there is among the tags. */
export function includesEntityTag(tags: EntityTags, etag: string): boolean {
  return tags === '*' || tags.includes(etag)
}

/** Whether a time is later than another, both in milliseconds: by whole seconds, as `Last-Modified` has them. */
export function isModifiedSince(modifiedAt: number, since: number): boolean {
  return Math.floor(modifiedAt / 1000) > Math.floor(since / 1000)
}

function has(tags: EntityTags, file: File | undefined): boolean {
  return file !== undefined && includesEntityTag(tags, file.version)
}

function isUnmodified({ ifUnmodifiedSince }: Precondition, file: File | undefined): boolean {
  if (ifUnmodifiedSince === undefined || file === undefined) return true
  return !isModifiedSince(file.updatedAt, ifUnmodifiedSince)
}
