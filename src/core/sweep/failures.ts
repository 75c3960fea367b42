import { AppError, isAppError } from '../errors.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { UserId } from '../users/user-id.ts'

/** What has failed in one sweep, so that the rest of its work goes on. */
export interface Failures {
  /** What `work` resolves with, or `undefined` where it failed; see `createFailures`. */
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>
  /** The same for work on what a user owns; the failure then names the user. */
  attemptFor<T>(userId: UserId, work: () => Promise<T>): Promise<T | undefined>
  /** For whom work has failed. */
  users(): readonly UserId[]
  /** Throws what failed first, if anything has. */
  throwFirst(): void
}

/**
 * Collects the failures of a sweep. An attempt rejects only with the reason of the signal, or where the database no
 * longer answers: then all further work would fail as well, after a timeout each.
 */
export function createFailures({
  ledger,
  signal,
}: {
  readonly ledger: Pick<Ledger, 'check'>
  readonly signal: AbortSignal
}): Failures {
  const users: UserId[] = []
  let first: { readonly error: unknown } | undefined

  async function note(error: unknown): Promise<void> {
    signal.throwIfAborted()
    first ??= { error }
    await ledger.check()
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
    attempt,
    attemptFor: (userId, work) =>
      attempt(async () => {
        try {
          return await work()
        } catch (error) {
          users.push(userId)
          throw failureOf(userId, error)
        }
      }),
    users: () => users,
    throwFirst() {
      if (first !== undefined) throw first.error
    },
  }
}

function failureOf(userId: UserId, cause: unknown): AppError {
  const code = isAppError(cause) ? cause.code : 'internal_error'
  const detail = `What the user ${userId} left could not be settled; the rest of the sweep went on.`
  return new AppError(code, detail, { cause })
}
