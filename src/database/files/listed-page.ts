import type { File } from '../../core/files/file.ts'
import type { FileName, FileNamePrefix } from '../../core/files/file-name.ts'
import {
  commonPrefixOf,
  containsText,
  type FilePosition,
  positionOf,
} from '../../core/files/listing.ts'
import type { ListFiles } from '../../core/files/file-ledger.ts'

/** A row of `files` in the order of a listing. */
export interface FoundFile {
  readonly name: FileName
  /** Not expired. */
  readonly isCurrent: boolean
  /** `undefined` if the listing shows a common prefix in its place, or if the file has gone since. */
  readonly file: File | undefined
}

/** A page of a listing while it is filled: the one place that decides what a listing shows. */
export function createListedPage(listing: ListFiles) {
  const { prefix, contains, order, limit } = listing
  const hasText = contains === undefined ? undefined : containsText(contains)
  const files: File[] = []
  const prefixes: FileNamePrefix[] = []
  let last: FilePosition | undefined
  let isFull = false

  function isListed({ name, isCurrent }: FoundFile): boolean {
    return isCurrent && name.startsWith(prefix) && hasText?.(name) !== false
  }
  function positionAfter({ name, file }: FoundFile): FilePosition {
    const common = commonPrefixOf(name, listing)
    if (common !== undefined && common === prefixes.at(-1))
      return { name: common, value: 0, isPrefix: true }
    return file === undefined ? { name, value: 0 } : positionOf(file, order)
  }

  return {
    /** Where a listing continues after the row: it skips the rest of a common prefix that it has shown. */
    positionAfter,
    /** Takes the next row in order, and returns whether the page needs a later one. */
    take(found: FoundFile): boolean {
      if (!isListed(found)) return true
      const common = commonPrefixOf(found.name, listing)
      const isNew = common === undefined ? found.file !== undefined : common !== prefixes.at(-1)
      if (!isNew) return true
      if (files.length + prefixes.length === limit) {
        isFull = true
        return false
      }
      if (common !== undefined) prefixes.push(common)
      else if (found.file !== undefined) files.push(found.file)
      last = positionAfter(found)
      return true
    },
    /** `ranOutAt`: where the rows end that may be read, if there can be more. */
    end: (ranOutAt: FilePosition | undefined) => ({
      files,
      prefixes,
      next: isFull ? last : ranOutAt,
    }),
  }
}
