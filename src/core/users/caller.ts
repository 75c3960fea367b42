import { AppError, isAppError } from '../errors.ts'
import type { User, UserStatus } from './user-store.ts'
import type { UserId } from './user-id.ts'

/**
 * The account that a request acts for. An id alone does not name it: once a deleted user is purged, the id can belong to
 * another account, which was created at another time.
 */
export interface Caller {
  readonly userId: UserId
  /** `User.createdAt`. */
  readonly userCreatedAt: number
}

/** A caller whose access token came with a request. */
export interface AuthorizedCaller extends Caller {
  /**
   * Guarantees that the caller may still act, by what was known at most 5 s ago: rejects with `access_token_invalid` when
   * the token was revoked or its user deleted since, with `user_suspended`, and with `unavailable` when that can't be
   * found out. A token that merely expired since does not end what it was let in for.
   */
  readonly reverify: () => Promise<void>
}

export function callerOf({ userId, createdAt }: Pick<User, 'userId' | 'createdAt'>): Caller {
  return { userId, userCreatedAt: createdAt }
}

export interface AccessWatch extends Disposable {
  /** Aborts, with the refusal as its reason, when the caller may no longer act. */
  readonly lost: AbortSignal
}

/**
 * Verifies a caller again every `everyMs` milliseconds, until it is disposed of. While that can't be decided, access counts
 * as not lost.
 */
export function watchAccess({ reverify }: AuthorizedCaller, everyMs: number): AccessWatch {
  const lost = new AbortController()
  async function verify(): Promise<void> {
    const refusal = await accessRefusal(reverify)
    if (refusal !== undefined) lost.abort(refusal)
  }
  const timer = setInterval(() => void verify(), everyMs).unref()
  return { lost: lost.signal, [Symbol.dispose]: () => clearInterval(timer) }
}

/** Why the caller may no longer act; `undefined` when they may, or when that can't be found out. */
export async function accessRefusal(reverify: AuthorizedCaller['reverify']): Promise<unknown> {
  try {
    await reverify()
    return undefined
  } catch (error) {
    return isAppError(error, 'unavailable') ? undefined : error
  }
}

/** The refusal of whatever a user of that status, or one who does not exist, asks for. */
export function inactiveUser(status: UserStatus | undefined): AppError {
  return status === 'suspended'
    ? new AppError('user_suspended', 'The user of this access token is suspended.')
    : new AppError('access_token_invalid', 'The access token stands for no user.')
}

/** The refusal of a token that is malformed, unknown, expired or revoked. */
export function accessTokenInvalid(cause?: unknown): AppError {
  return new AppError('access_token_invalid', 'The access token is not valid.', { cause })
}
