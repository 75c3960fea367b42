import { AppError } from '../errors.ts'
import type { AccountLedger } from './account-ledger.ts'
import type { User, UserStatus } from './user-store.ts'
import type { UserId } from './user-id.ts'

/** The account that a request acts for. The creation time distinguishes it from a later account with the same id. */
export interface Caller {
  readonly userId: UserId
  readonly userCreatedAt: number
}

/** The account, and what acts for it where it changes files. */
export interface Actor extends Caller {
  /**
   * The narrow credential that acts, of which the account's limits leave a share (core/quota/README.md), and whose ends
   * displace nothing of others (core/history/README.md): the id of a link, or of the first token with a scope among the
   * request's token and those that it was made from. `undefined` for a token without a scope, and for operators.
   */
  readonly credential?: string | undefined
  /** The device of the request's token or link, to which what it stores belongs. */
  readonly deviceId?: string | undefined
}

export function callerOf({ userId, createdAt }: User): Caller {
  return { userId, userCreatedAt: createdAt }
}

/** The refusal for a user of this status; `undefined` means no such user. */
export function inactiveUser(status: UserStatus | undefined): AppError {
  return status === 'suspended'
    ? new AppError('user_suspended', 'This user is suspended.')
    : new AppError('access_token_invalid', 'The access token is no longer valid.')
}

/** The refusal of what operators ask for a user who does not exist, or is deleted. */
export function userNotFound(userId: UserId): AppError {
  return new AppError('not_found', `User "${userId}" does not exist.`)
}

/** The status of the caller's account; `undefined` if it is gone, also if a later one has its id. */
export async function statusOf(
  accounts: Pick<AccountLedger, 'findAccount'>,
  { userId, userCreatedAt }: Caller,
): Promise<UserStatus | undefined> {
  const { user } = (await accounts.findAccount(userId)) ?? {}
  return user?.createdAt === userCreatedAt ? user.status : undefined
}

/** Rejects as `inactiveUser` says unless the caller's account is active. */
export async function assertActive(
  accounts: Pick<AccountLedger, 'findAccount'>,
  caller: Caller,
): Promise<void> {
  const status = await statusOf(accounts, caller)
  if (status !== 'active') throw inactiveUser(status)
}

/** The refusal of a malformed, unknown, expired or revoked token. */
export function accessTokenInvalid(cause?: unknown): AppError {
  return new AppError('access_token_invalid', 'The access token is not valid.', { cause })
}
