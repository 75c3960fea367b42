import type { File } from './file.ts'
import type { FileName, FileNamePrefix } from './file-name.ts'
import type { UserId } from '../users/user-id.ts'

/** `-` is descending. Names compare bytewise; ties are ordered by name in the same direction. */
export const FILE_ORDERS = ['name', '-name', 'updated_at', '-updated_at', 'size', '-size'] as const

export type FileOrder = (typeof FILE_ORDERS)[number]

/** The position right after a file as it was listed, even if it has changed since. */
export interface FilePosition {
  readonly name: FileName
  /** The sort key: milliseconds or bytes, 0 when ordered by name. */
  readonly value: number
}

/** A page of a user's files. */
export interface Listing {
  readonly userId: UserId
  readonly prefix: FileNamePrefix
  /** Whether not even a position may tell anything of other files than those with the prefix. */
  readonly hidesOthers?: boolean | undefined
  readonly order: FileOrder
  readonly after: FilePosition | undefined
  readonly limit: number
}

/**
 * What a listing found. It can end before the page is full, and even without a file, if it has looked at as many files
 * as it may: `scannedTo` is then the position of the last one, after which the next page continues.
 */
export interface ListedFiles {
  readonly files: readonly File[]
  readonly scannedTo: FilePosition | undefined
}

/** Bounds what one request costs. Only a prefix in an order other than by name makes a listing skip files. */
export const MAX_SCANNED_FILES = 2_000

/** The owner sees all files, other viewers those that they may download. */
export type Audience = 'owner' | 'users' | 'anyone'

export function positionOf(file: File, order: FileOrder): FilePosition {
  const values = { name: 0, updated_at: file.updatedAt, size: file.size }
  return { name: file.name, value: values[order.replace('-', '') as keyof typeof values] }
}
