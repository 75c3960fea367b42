import type { File } from './file.ts'

/**
 * A change of one file: `file` is the state after it, `old` the state before. An update keeps the version and the
 * object, and may change the name. A restored file was past; `old` is the one that it displaces. A rename onto an
 * existing file is the deletion of that file, then an update.
 */
export type FileChange =
  | { readonly type: 'created'; readonly file: File; readonly old?: undefined }
  | { readonly type: 'restored'; readonly file: File; readonly old: File | undefined }
  | { readonly type: 'replaced' | 'updated'; readonly file: File; readonly old: File }
  | {
      readonly type: EndOfFile
      readonly file?: undefined
      readonly old: File
      /** Of an expired file: it has expired only by a clock that is not trusted (I17). */
      readonly isUncertain?: boolean
    }

/** What of a file an update can change that moves `updatedAt`, and so the order of eviction. */
const MOVING = ['name', 'expiresAt', 'isKept', 'mediaType', 'metadata'] as const

/**
 * Whether the file keeps its `updatedAt`: to share a file is no change of it. The date of one that is no longer kept
 * moves, because the search for files to evict may have passed it by (`eviction-search.ts`).
 */
export function keepsDate({ type, file, old }: FileChange): boolean {
  return type === 'updated' && !MOVING.some((member) => file[member] !== old[member])
}

export type EndOfFile = 'deleted' | 'evicted' | 'expired'

/** Whether the file ends without becoming history, which deleted and replaced ones do. */
export function isDiscarded(change: FileChange): boolean {
  if (change.type === 'expired') return change.isUncertain !== true
  return change.type === 'evicted'
}
