import { AppError } from '../../core/errors.ts'
import { parseFileName } from '../../core/files/file-name.ts'
import type { FileOrder, FilePosition } from '../../core/files/listing.ts'

/** Writes a place in a listing as text without meaning to anyone else. */
export function formatListCursor({ name, value }: FilePosition, order: FileOrder): string {
  return Buffer.from(JSON.stringify([order, value, name])).toString('base64url')
}

/** Reads it back. Throws `invalid_parameter` when it is none, or belongs to a listing in another order. */
export function parseListCursor(text: string, order: FileOrder): FilePosition {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (!Array.isArray(parts) || parts.length !== 3) throw new TypeError('not a cursor')
    const [forOrder, value, name] = parts as unknown[]
    if (forOrder !== order) throw new TypeError('of another order')
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new TypeError('no place')
    return { value, name: parseFileName(String(name)) }
  } catch (error) {
    throw new AppError('invalid_parameter', 'The cursor is not one of this listing.', {
      cause: error,
      facts: { parameter: 'cursor' },
    })
  }
}
