import type { FileEntry } from '../../shared/model.ts'
import type { FileList } from '../files/file-list.ts'
import { isMarker } from '../../shared/folder.ts'
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

/** As users count: a marker is no file, except where there is nothing else. */
export function countOf(files: readonly FileEntry[]): number {
  return files.filter(({ name }) => !isMarker(name)).length || files.length
}
