import { AppError } from '../errors.ts'
import type { UserStatus } from './user-store.ts'

/** The refusal of whatever a user of that status, or one who does not exist, asks for. */
export function inactiveUser(status: UserStatus | undefined): AppError {
  return status === 'suspended'
    ? new AppError('user_suspended', 'The user of this access token is suspended.')
    : new AppError('access_token_invalid', 'The access token stands for no user.')
}
