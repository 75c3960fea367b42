import { AppError, isAppError } from '../errors.ts'
import type { UserId } from '../users/user-id.ts'

/** The failures of one sweep, collected so that its other work continues. */
export type Failures = ReturnType<typeof createFailures>

/** An attempt rejects only with the signal's reason, or if the database is down: other work would time out too. */
export function createFailures(checkDatabase: () => Promise<unknown>, signal: AbortSignal) {
  const users: UserId[] = []
  let first: { readonly error: unknown } | undefined

  async function note(error: unknown): Promise<void> {
    signal.throwIfAborted()
    first ??= { error }
    await checkDatabase()
  }

  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      await note(error)
      return undefined
    }
  }

  return {
    /** Returns `undefined` if `work` failed; see `createFailures`. */
    attempt,
    attemptFor: <T>(userId: UserId, work: () => Promise<T>) =>
      attempt(async () => {
        try {
          return await work()
        } catch (error) {
          users.push(userId)
          throw failureOf(userId, error)
        }
      }),
    users: () => users,
    throwFirst(): void {
      if (first !== undefined) throw first.error
    },
  }
}

/** Of a write for which the disk of the database has no room. A later sweep repeats it, so it is no failure. */
export const NO_ROOM = Symbol('no room')

export async function ifRoom<T>(write: () => Promise<T>): Promise<T | typeof NO_ROOM> {
  try {
    return await write()
  } catch (error) {
    if (isAppError(error, 'insufficient_storage')) return NO_ROOM
    throw error
  }
}

function failureOf(userId: UserId, cause: unknown): AppError {
  const code = isAppError(cause) ? cause.code : 'internal_error'
  const detail = `The sweep failed for user "${userId}" and continued with the other users.`
  return new AppError(code, detail, { cause })
}
