import { isUserId, type UserId } from '../users/user-id.ts'
import type { Version } from './version.ts'

declare const brand: unique symbol

/** Where an object lies in the store: `users/<user_id>/<version>`, ASCII, at most 107 bytes. */
export type ObjectKey = string & { readonly [brand]: 'ObjectKey' }

/** The prefix of every key that this service writes. */
export const OBJECT_KEY_PREFIX = 'users/'

/** Returns the key of `version`. The file's name is no part of it, so a hostile name reaches no store. */
export function objectKey(userId: UserId, version: Version): ObjectKey {
  return `${OBJECT_KEY_PREFIX}${userId}/${version}` as ObjectKey
}

const OBJECT_KEY = /^users\/[A-Za-z0-9_-]{1,64}\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether `text` has the shape of the keys that this service writes; whatever else a store holds is not ours. */
export function isObjectKey(text: string): text is ObjectKey {
  return OBJECT_KEY.test(text)
}

/** The user in a key, or `undefined` when no user can have that id. */
export function ownerOf(key: ObjectKey): UserId | undefined {
  const owner = key.slice(OBJECT_KEY_PREFIX.length, key.lastIndexOf('/'))
  return isUserId(owner) ? owner : undefined
}

/** The last segment of a key; of one that this service made, the version. */
export function versionOf(key: ObjectKey): string {
  return key.slice(key.lastIndexOf('/') + 1)
}
