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
    const at = name.indexOf('/', folder.length)
    if (at === -1) {
      here.push({ label: name.slice(folder.length), file })
      continue
    }
    const path = name.slice(0, at + 1)
    const found = folders.get(path) ?? { count: 0, bytes: 0 }
    folders.set(path, found)
    if (!name.endsWith('/')) found.count += 1
    found.bytes += size
  }
  const byLabel = (a: { readonly label: string }, b: { readonly label: string }): number =>
    compareNames(a.label, b.label)
  return {
    folders: [...folders]
      .map(([path, { count, bytes }]) => ({ path, label: labelIn(folder, path), count, bytes }))
      .toSorted(byLabel),
    files: here.toSorted(byLabel),
  }
}

/** The folders from the outermost to this one. */
export function wayTo(
  folder: string,
): readonly { readonly path: string; readonly label: string }[] {
  const way = []
  let around = ''
  while (around.length < folder.length) {
    const path = folder.slice(0, folder.indexOf('/', around.length) + 1)
    way.push({ path, label: labelIn(around, path) })
    around = path
  }
  return way
}

/** What follows the prefix of a link can begin with a slash, before which there is no name. */
function labelIn(around: string, path: string): string {
  return path.slice(around.length, -1) || '/'
}
