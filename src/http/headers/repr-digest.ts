import { type Item, type InnerList, parseDictionary } from 'structured-headers'
import { AppError } from '../../core/errors.ts'

const ALGORITHM = 'sha-256'
const SHA256_BYTES = 32

/** Writes the `Repr-Digest` (RFC 9530) of a content with this SHA-256 in hexadecimal. */
export function formatReprDigest(sha256: string): string {
  return `${ALGORITHM}=:${Buffer.from(sha256, 'hex').toString('base64')}:`
}

/**
 * Returns the SHA-256 that a `Repr-Digest` states, as 64 lower-case hexadecimal digits, or `undefined` when there is no
 * header or it has other algorithms alone. Throws `invalid_parameter` when it is malformed: who sends one wants it
 * checked.
 */
export function parseReprDigest(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const members = dictionaryOf(header)
  if (members === undefined) throw malformed()
  const member = members.get(ALGORITHM)
  if (member === undefined) return undefined
  const [value] = member
  if (!(value instanceof ArrayBuffer) || value.byteLength !== SHA256_BYTES) throw malformed()
  return Buffer.from(value).toString('hex')
}

/**
 * Whether a `Want-Repr-Digest` asks for a SHA-256, with a preference from 1 to 10; 0 means not wanted. It is a wish, so
 * a malformed one is none.
 */
export function wantsReprDigest(header: string | undefined): boolean {
  const [preference] = dictionaryOf(header ?? '')?.get(ALGORITHM) ?? []
  return Number.isInteger(preference) && Number(preference) >= 1 && Number(preference) <= 10
}

/** A dictionary of RFC 9651, or `undefined` when the text is none. */
function dictionaryOf(text: string): ReadonlyMap<string, Item | InnerList> | undefined {
  try {
    return parseDictionary(text)
  } catch {
    return undefined
  }
}

function malformed(): AppError {
  return new AppError(
    'invalid_parameter',
    'The header Repr-Digest is a dictionary whose sha-256 is 32 bytes in base64: sha-256=:...:',
    { facts: { parameter: 'Repr-Digest' } },
  )
}
