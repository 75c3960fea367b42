import { AppError, isAppError } from '../core/errors.ts'

/** Returns `cause` as the one error that a store rejects with on its own account; one that already is it, unchanged. */
export function storeError(cause: unknown): AppError {
  if (isAppError(cause, 'unavailable')) return cause
  return new AppError('unavailable', 'The object store failed or did not answer in time.', {
    cause,
    part: 'object_store',
  })
}
