import { createHash, createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/**
 * What the service stores of a password is `<salt>:<SHA-256 of the key>`, where the key is scrypt's. Whoever shows the key,
 * as the page does in a cookie, has shown the password; neither follows from what is stored.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES).toString('base64url')
  return `${salt}:${digestOf(await keyOf(salt, password))}`
}

/** The key that `isKey` accepts; `undefined` for another password. Takes a thread 0.1 s, and 16 MiB. */
export async function unlock(stored: string, password: string): Promise<string | undefined> {
  const [salt = ''] = stored.split(':')
  const key = await keyOf(salt, password)
  return isKey(stored, key) ? key : undefined
}

export function isKey(stored: string, key: string): boolean {
  const [, digest = ''] = stored.split(':')
  return timingSafeEqual(Buffer.from(digestOf(key)), Buffer.from(digest))
}

/** At most, in UTF-16 code units. */
export const MAX_PASSWORD_LENGTH = 200

const SALT_BYTES = 16
const KEY_BYTES = 32

/** OWASP's parameters for 16 MiB. */
const COST = { N: 2 ** 14, r: 8, p: 5 }

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt)

async function keyOf(salt: string, password: string): Promise<string> {
  return (await derive(password.normalize('NFC'), salt, KEY_BYTES, COST)).toString('base64url')
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}

/** Remembers passwords that were right, by a digest that is worthless outside this process. */
export function createKnownPasswords(maxEntries: number) {
  const secret = randomBytes(32)
  const known = new Set<string>()
  const entryOf = (stored: string, password: string): string =>
    createHmac('sha256', secret).update(`${stored}:${password}`).digest('base64url')
  return {
    has: (stored: string, password: string): boolean => known.has(entryOf(stored, password)),
    add(stored: string, password: string): void {
      known.add(entryOf(stored, password))
      const [oldest] = known
      if (known.size > maxEntries && oldest !== undefined) known.delete(oldest)
    },
  }
}
