import { AppError } from '../errors.ts'

declare const brand: unique symbol
declare const prefixBrand: unique symbol

/** Names one user for ever. Made by `parseUserId` alone. */
export type UserId = string & { readonly [brand]: 'UserId' }

/** What may name a user, as JSON Schema takes it. */
export const USER_ID_PATTERN = '^(?!me$)[A-Za-z0-9_-]{1,64}$'

/** What such names can begin with, `me` as well as nothing. */
export const USER_ID_PREFIX_PATTERN = '^[A-Za-z0-9_-]{0,64}$'

const [USER_ID, PREFIX] = [new RegExp(USER_ID_PATTERN), new RegExp(USER_ID_PREFIX_PATTERN)]

/** Whether `text` may name a user: 1 to 64 of `A-Z a-z 0-9 _ -`, and not `me`, which means the caller. */
export function isUserId(text: string): text is UserId {
  return USER_ID.test(text)
}

/** Returns `text` as a user id, or throws `invalid_parameter` (docs/administration.md). */
export function parseUserId(text: string): UserId {
  if (isUserId(text)) return text
  throw new AppError(
    'invalid_parameter',
    'A user id is 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-", and not "me".',
    { facts: { parameter: 'user_id' } },
  )
}

/** What the ids of a listing begin with; may be empty. Made by `parseUserIdPrefix` alone. */
export type UserIdPrefix = string & { readonly [prefixBrand]: 'UserIdPrefix' }

/** Returns `text` as a prefix, or throws `invalid_parameter` when no user id can begin with it. */
export function parseUserIdPrefix(text: string): UserIdPrefix {
  if (PREFIX.test(text)) return text as UserIdPrefix
  throw new AppError(
    'invalid_parameter',
    'The prefix of a user id is at most 64 characters of A-Z, a-z, 0-9, "_" and "-".',
    { facts: { parameter: 'prefix' } },
  )
}
