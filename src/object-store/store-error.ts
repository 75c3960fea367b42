import { AppError, isAppError } from '../core/errors.ts'

/** Settles as `call` does, with `storeError` of what it rejects with. */
export async function translated<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw storeError(error)
  }
}

/** Returns `cause` as the one error that a store rejects with on its own account; one that already is it, unchanged. */
export function storeError(cause: unknown): AppError {
  if (isAppError(cause, 'unavailable')) return cause
  return new AppError('unavailable', 'The object store failed or did not answer in time.', {
    cause,
    part: 'object_store',
  })
}
