import { hash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { isLongerThan } from '../characters.ts'

/**
 * What the service stores of a password: `<salt>:<SHA-256 of the key>`, where the key is scrypt's. The key is accepted
 * instead of the password; the page keeps it in a cookie. Neither can be derived from the stored value.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES).toString('base64url')
  return `${salt}:${digestOf(await keyOf(salt, password))}`
}

/** The key of the right password, else `undefined`. Occupies one thread of the pool for about 0.1 s, and 16 MiB. */
export async function deriveKey(hash: string, password: string): Promise<string | undefined> {
  const [salt = ''] = hash.split(':')
  const key = await keyOf(salt, password)
  return isKey(hash, key) ? key : undefined
}

/** Whether `deriveKey` has returned this key for the hash. Cheap. */
export function isKey(hash: string, key: string): boolean {
  const [, digest = ''] = hash.split(':')
  return timingSafeEqual(Buffer.from(digestOf(key)), Buffer.from(digest))
}

export const MAX_PASSWORD_LENGTH = 200

/** JSON Schema pattern: no control characters, of which scrypt takes trailing zeros for nothing. */
export const PASSWORD_PATTERN = '^[^\\u0000-\\u001f\\u007f]+$'

const PASSWORD = new RegExp(PASSWORD_PATTERN)

export function isPassword(text: string): boolean {
  return !isLongerThan(text, MAX_PASSWORD_LENGTH) && PASSWORD.test(text) && text.isWellFormed()
}

const SALT_BYTES = 16
const KEY_BYTES = 32

/** OWASP's parameters for 16 MiB. */
const COST = { N: 2 ** 14, r: 8, p: 5 }

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt)

async function keyOf(salt: string, password: string): Promise<string> {
  return (await derive(password.normalize('NFC'), salt, KEY_BYTES, COST)).toString('base64url')
}

function digestOf(key: string): string {
  return hash('sha256', key, 'base64url')
}
