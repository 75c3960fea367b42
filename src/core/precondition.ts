import { AppError } from './errors.ts'
import type { File } from './file.ts'

/** ETags without their quotes, strong ones only; `*` stands for any. */
export type ETags = readonly string[] | '*'

/** What a write demands of the file that its name has now (RFC 9110 section 13.1); nothing where a member is absent. */
export interface Precondition {
  /** There is a file, with one of these ETags. */
  readonly ifMatch?: ETags
  /** There is no file, or none with one of these ETags. */
  readonly ifNoneMatch?: ETags
  /** The file is no newer than that, in milliseconds since 1970; seconds are compared. Not looked at beside `ifMatch`. */
  readonly ifUnmodifiedSince?: number
}

/** Whether `file`, or that there is none, is what the precondition demands. */
export function isMet(precondition: Precondition, file: File | undefined): boolean {
  const { ifMatch, ifNoneMatch } = precondition
  const matched = ifMatch === undefined ? isUnmodified(precondition, file) : has(ifMatch, file)
  return matched && (ifNoneMatch === undefined || !has(ifNoneMatch, file))
}

/** The refusal of a write whose precondition is not met. */
export function preconditionFailed(): AppError {
  return new AppError('precondition_failed', 'The file is not as the request demands.')
}

function has(etags: ETags, file: File | undefined): boolean {
  return file !== undefined && (etags === '*' || etags.includes(file.version))
}

function isUnmodified({ ifUnmodifiedSince }: Precondition, file: File | undefined): boolean {
  if (ifUnmodifiedSince === undefined || file === undefined) return true
  // The Last-Modified that a client knows has whole seconds.
  return Math.floor(file.updatedAt / 1000) <= Math.floor(ifUnmodifiedSince / 1000)
}
