import { isUserId, type UserId } from '../users/user-id.ts'
import { randomUUID } from 'node:crypto'

declare const brand: unique symbol

/** An object's key in the store: `users/<user_id>/<version>`, ASCII, at most 107 bytes. */
export type ObjectKey = string & { readonly [brand]: 'ObjectKey' }

export const OBJECT_KEY_PREFIX = 'users/'

/** The key does not contain the file's name, so a hostile name never reaches a store. */
export function objectKey(userId: UserId, version: Version): ObjectKey {
  return `${OBJECT_KEY_PREFIX}${userId}/${version}` as ObjectKey
}

const OBJECT_KEY = /^users\/[A-Za-z0-9_-]{1,64}\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether `text` has the shape of this service's keys; a store may hold other objects. */
export function isObjectKey(text: string): text is ObjectKey {
  return OBJECT_KEY.test(text)
}

/** The user in a key, or `undefined` if it is not a valid user id. */
export function ownerOf(key: ObjectKey): UserId | undefined {
  const owner = key.slice(OBJECT_KEY_PREFIX.length, key.lastIndexOf('/'))
  return isUserId(owner) ? owner : undefined
}

export function versionOf(key: ObjectKey): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

/** Identifies one upload and its object; never reused. A UUIDv7 (RFC 9562 section 5.7). */
export type Version = string & { readonly [brand]: 'Version' }

export function createVersion(nowMs: number = Date.now()): Version {
  const time = nowMs.toString(16).padStart(12, '0')
  // Node keeps random bytes for many UUIDs, so their random part costs less than `randomBytes`.
  const random = randomUUID().slice(15)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random}` as Version
}

/** Of a `Version`. */
export const VERSION_PATTERN =
  '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'

const VERSION = new RegExp(VERSION_PATTERN)

export function isVersion(text: string): text is Version {
  return VERSION.test(text)
}

/** When the upload began: milliseconds since 1970 by the clock of its instance. */
export function timeOf(version: Version): number {
  return Number.parseInt(version.slice(0, 8) + version.slice(9, 13), 16)
}

/** An object, and the signal that ends the call that names it. */
export interface NamedObject {
  readonly key: ObjectKey
  readonly signal: AbortSignal
}
