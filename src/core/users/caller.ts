import { AppError, isAppError } from '../errors.ts'
import type { User, UserStatus } from './user-store.ts'
import type { UserId } from './user-id.ts'

/** The account a request acts for. The creation time tells it from later accounts with the id of a purged one. */
export interface Caller {
  readonly userId: UserId
  readonly userCreatedAt: number
}

export interface AuthorizedCaller extends Caller {
  /**
   * Guarantees, as of at most 5 s ago, that the caller may still act. Rejects with `access_token_invalid` when token or
   * user is gone, `user_suspended`, or `unavailable` when unknown. A token that has only expired does not reject.
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

/** Reverifies a caller every `everyMs` until disposed. Access that can't be verified does not count as lost. */
export function watchAccess({ reverify }: AuthorizedCaller, everyMs: number): AccessWatch {
  const lost = new AbortController()
  async function verify(): Promise<void> {
    const refusal = await accessRefusal(reverify)
    if (refusal !== undefined) lost.abort(refusal)
  }
  const timer = setInterval(() => void verify(), everyMs).unref()
  return { lost: lost.signal, [Symbol.dispose]: () => clearInterval(timer) }
}

/** Why the caller may no longer act; `undefined` when they may or when it is unknown. */
export async function accessRefusal(reverify: AuthorizedCaller['reverify']): Promise<unknown> {
  try {
    await reverify()
    return undefined
  } catch (error) {
    return isAppError(error, 'unavailable') ? undefined : error
  }
}

/** The refusal for a user of this status; `undefined` means no such user. */
export function inactiveUser(status: UserStatus | undefined): AppError {
  return status === 'suspended'
    ? new AppError('user_suspended', 'The user of this access token is suspended.')
    : new AppError('access_token_invalid', 'The access token is no longer valid.')
}

/** The refusal of a malformed, unknown, expired or revoked token. */
export function accessTokenInvalid(cause?: unknown): AppError {
  return new AppError('access_token_invalid', 'The access token is not valid.', { cause })
}
