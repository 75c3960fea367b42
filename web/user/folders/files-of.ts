import type { FileEntry } from '../../shared/model.ts'
import type { FileList } from '../files/file-list.ts'
import { foldersAround, isMarker, parentOf } from '../../shared/folder.ts'
import type { Entry } from '../files/shown-entries.ts'

/** The files among these, and all in the folders among these and in the folders below, also those that are not loaded. */
export async function filesOf(
  list: Pick<FileList, 'filesIn'>,
  entries: readonly Entry[],
): Promise<readonly FileEntry[]> {
  const files: FileEntry[] = []
  for (const entry of entries) {
    if (typeof entry !== 'string') files.push(entry)
    else for await (const page of list.filesIn(entry)) files.push(...page.files)
  }
  return files
}

/** As users count: a folder counts as one if it is empty, and as what is in it if it is not. */
export function countOf(files: readonly FileEntry[]): number {
  const markers = files.filter(({ name }) => isMarker(name))
  if (markers.length === 0) return files.length
  const filled = new Set(
    files.flatMap(({ name }) => foldersAround(isMarker(name) ? parentOf(name) : name)),
  )
  return files.length - markers.filter(({ name }) => filled.has(name)).length
}
