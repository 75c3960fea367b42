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

/** The members of an adapter's state of an upload. Throws `storeError` if it is not a JSON object. */
export function parseMembers(storeState: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(storeState)
    if (typeof parsed === 'object' && parsed !== null) return { ...parsed }
  } catch (error) {
    throw storeError(error)
  }
  throw storeError(new TypeError('The state of an upload is not a JSON object'))
}
