import { hasPrefix, type Scoped } from '../auth/scope.ts'
import { AppError } from '../errors.ts'
import type { FileVersion } from '../files/file.ts'

export const ENDS = ['replaced', 'deleted'] as const

/** Content that is not current any more. Its name and figures are those that the file had at its end. */
export interface PastVersion extends FileVersion {
  /** Milliseconds since 1970 by the database's clock, as all times. */
  readonly endedAt: number
  readonly endedAs: (typeof ENDS)[number]
  /** When it leaves the history, if not before. Never later than its file would have expired. */
  readonly expiresAt: number
  /** When its file would have expired, and does if it is restored; `NEVER` if not. */
  readonly fileExpiresAt: number
}

export function versionNotFound(): AppError {
  return new AppError('not_found', 'The history has no such version.')
}

export function versionGone(): AppError {
  return new AppError('version_gone', 'This version has left the history.')
}

/** The refusal for a version that is gone. That it was in the history is told only to tokens for all names. */
export function versionGoneFor(caller: Scoped): AppError {
  return hasPrefix(caller) ? versionNotFound() : versionGone()
}
