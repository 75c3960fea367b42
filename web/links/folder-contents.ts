import { childOf, isMarker, labelOf, nameIn } from '../shared/folder.ts'
import { compareNames } from '../shared/format.ts'

/** A file of a link as the API describes it. */
export interface LinkedFile {
  readonly name: string
  readonly size: number
  readonly media_type?: string
}

/** A folder in the open one. */
export interface LinkedFolder {
  /** With those around it, and a slash at its end. */
  readonly path: string
  readonly label: string
  /** Of the files in it and below. */
  readonly count: number
  readonly bytes: number
}

export interface FolderContents {
  readonly folders: readonly LinkedFolder[]
  readonly files: readonly { readonly label: string; readonly file: LinkedFile }[]
}

/** What is directly in a folder of a link, in the order of people. Markers of folders are no files in it. */
export function folderContents(files: readonly LinkedFile[], folder: string): FolderContents {
  const folders = new Map<string, { count: number; bytes: number }>()
  const here: { readonly label: string; readonly file: LinkedFile }[] = []
  for (const file of files) {
    const { name, size } = file
    if (!name.startsWith(folder) || name === folder) continue
    const path = childOf(folder, name)
    if (path === undefined) {
      here.push({ label: nameIn(folder, name), file })
      continue
    }
    const found = folders.get(path) ?? { count: 0, bytes: 0 }
    folders.set(path, found)
    if (!isMarker(name)) found.count += 1
    found.bytes += size
  }
  const byLabel = (a: { readonly label: string }, b: { readonly label: string }): number =>
    compareNames(a.label, b.label)
  return {
    folders: [...folders]
      .map(([path, { count, bytes }]) => ({ path, label: labelOf(path), count, bytes }))
      .toSorted(byLabel),
    files: here.toSorted(byLabel),
  }
}
