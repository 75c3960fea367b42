import { AppError, isAppError } from '../core/errors.ts'

export async function translated<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw storeError(error)
  }
}

/** The port's `unavailable` error with this cause; returns `cause` itself if it already is one. */
export function storeError(cause: unknown): AppError {
  if (isAppError(cause, 'unavailable')) return cause
  return new AppError('unavailable', 'The object store failed or did not respond in time.', {
    cause,
    dependency: 'object_store',
  })
}
