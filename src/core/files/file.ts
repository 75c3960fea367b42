import { AppError } from '../errors.ts'
import type { FileName } from './file-name.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** Who may read a file: its owner, any user with a valid access token, anyone. */
export const VISIBILITIES = ['private', 'users', 'public'] as const

export type Visibility = (typeof VISIBILITIES)[number]

/** Returns what a request says of visibility, which may be nothing, or throws `invalid_parameter`. */
export function parseVisibility(value: unknown): Visibility | undefined {
  if (value === undefined) return undefined
  const visibility = VISIBILITIES.find((known) => known === value)
  if (visibility !== undefined) return visibility
  throw new AppError('invalid_parameter', `The visibility is one of ${VISIBILITIES.join(', ')}.`, {
    facts: { parameter: 'visibility' },
  })
}

/** A file as its row in `files` records it. */
export interface File {
  readonly userId: UserId
  readonly name: FileName
  readonly version: Version
  readonly objectKey: ObjectKey
  /** Bytes. */
  readonly size: number
  /** Of the whole content, 64 lower-case hexadecimal digits. */
  readonly sha256: string
  readonly visibility: Visibility
  /** Milliseconds since 1970 by the database's clock; an overwrite keeps it. */
  readonly createdAt: number
  /** Milliseconds since 1970 by the database's clock. */
  readonly updatedAt: number
}

/** The one answer for a file that is not there and for one that the caller may not see. */
export function fileNotFound(): AppError {
  return new AppError('not_found', 'There is no such file.')
}
