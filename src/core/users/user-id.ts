import { invalidParameter } from '../errors.ts'

declare const brand: unique symbol
declare const prefixBrand: unique symbol

/** 1 to 64 of `A-Z a-z 0-9 _ -`, except `me`, which means the caller. */
export type UserId = string & { readonly [brand]: 'UserId' }

export const USER_ID_PATTERN = '^(?!me$)[A-Za-z0-9_-]{1,64}$'

/** Unlike an id, a prefix may be empty or `me`. */
export const USER_ID_PREFIX_PATTERN = '^[A-Za-z0-9_-]{0,64}$'

const [USER_ID, PREFIX] = [new RegExp(USER_ID_PATTERN), new RegExp(USER_ID_PREFIX_PATTERN)]

export function isUserId(text: string): text is UserId {
  return USER_ID.test(text)
}

/** Throws `invalid_parameter` unless `text` is a user id (docs/administration.md). */
export function parseUserId(text: string): UserId {
  if (isUserId(text)) return text
  throw invalidParameter(
    'user_id',
    'A user id must be 1 to 64 characters from A-Z, a-z, 0-9, "_" and "-", and must not be "me".',
  )
}

export type UserIdPrefix = string & { readonly [prefixBrand]: 'UserIdPrefix' }

/** Throws `invalid_parameter` when no user id can begin with `text`, which may be empty. */
export function parseUserIdPrefix(text: string): UserIdPrefix {
  if (PREFIX.test(text)) return text as UserIdPrefix
  throw invalidParameter(
    'prefix',
    'The prefix of a user id must be at most 64 characters from A-Z, a-z, 0-9, "_" and "-".',
  )
}
