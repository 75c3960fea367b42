import type { File } from './file.ts'
import type { FileName } from './file-name.ts'

/** `-` is descending. Names compare bytewise; ties are ordered by name in the same direction. */
export const FILE_ORDERS = ['name', '-name', 'updated_at', '-updated_at', 'size', '-size'] as const

export type FileOrder = (typeof FILE_ORDERS)[number]

/** The position right after a file as it was listed, even if it has changed since. */
export interface FilePosition {
  readonly name: FileName
  /** The sort key: milliseconds or bytes, 0 when ordered by name. */
  readonly value: number
}

/** The owner sees all files, other viewers those that they may download. */
export type Audience = 'owner' | 'users' | 'anyone'

export function positionOf(file: File, order: FileOrder): FilePosition {
  const values = { name: 0, updated_at: file.updatedAt, size: file.size }
  return { name: file.name, value: values[order.replace('-', '') as keyof typeof values] }
}
