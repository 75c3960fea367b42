import type { File } from './file.ts'
import type { FileName } from './file-name.ts'

/** By name bytewise, by time of change, by size; `-` is descending. Ties are ordered by name in the same direction. */
export const FILE_ORDERS = ['name', '-name', 'updated_at', '-updated_at', 'size', '-size'] as const

export type FileOrder = (typeof FILE_ORDERS)[number]

/** A place in a listing: right after the file of that name, wherever that file is by now. */
export interface FilePosition {
  readonly name: FileName
  /** What the listing is ordered by: milliseconds or bytes; 0 in the order of names. */
  readonly value: number
}

/** Whose files a listing shows: all to their owner, else those that the viewer may download. */
export type Audience = 'owner' | 'users' | 'anyone'

/** Where the listing stands when it has shown `file`. */
export function positionOf(file: File, order: FileOrder): FilePosition {
  return { name: file.name, value: valueOf(file, order) }
}

function valueOf(file: File, order: FileOrder): number {
  switch (order) {
    case 'name':
    case '-name':
      return 0
    case 'updated_at':
    case '-updated_at':
      return file.updatedAt
    case 'size':
    case '-size':
      return file.size
  }
}
