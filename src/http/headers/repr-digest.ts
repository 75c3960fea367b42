import { type InnerList, type Item, parseDictionary } from 'structured-headers'
import { type AppError, invalidParameter } from '../../core/errors.ts'
import { MAX_PARSED_LENGTH } from './content-headers.ts'

export function formatReprDigest(sha256: string): string {
  return `${ALGORITHM}=:${Buffer.from(sha256, 'hex').toString('base64')}:`
}

/** Lower-case hexadecimal; `undefined` without SHA-256. Throws `invalid_parameter` if the header is malformed. */
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

/** Whether a `Want-Repr-Digest` asks for SHA-256 (preference 1 to 10). A malformed header is ignored. */
export function wantsReprDigest(header: string | undefined): boolean {
  const [preference] = dictionaryOf(header ?? '')?.get(ALGORITHM) ?? []
  return Number.isInteger(preference) && Number(preference) >= 1 && Number(preference) <= 10
}

function dictionaryOf(text: string): ReadonlyMap<string, Item | InnerList> | undefined {
  if (text.length > MAX_PARSED_LENGTH) return undefined
  try {
    return parseDictionary(text)
  } catch {
    return undefined
  }
}

function malformed(): AppError {
  return invalidParameter(
    'Repr-Digest',
    'The Repr-Digest header must be a dictionary whose sha-256 member is 32 bytes in base64, such as sha-256=:...:',
  )
}

const ALGORITHM = 'sha-256'
const SHA256_BYTES = 32
