/** Folders are what names imply: `Trip/` is there while a name begins with it. */
export const SEPARATOR = '/'

/** Whether a name is that of a marker: an empty file that keeps an empty folder. Its name is the folder's. */
export function isMarker(name: string): boolean {
  return name.endsWith(SEPARATOR)
}

/** The innermost folder of a name, up to and including the separator; empty if it is in none. Of a marker, its own. */
export function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf(SEPARATOR) + 1)
}

/** The folder around a folder or a file. */
export function parentOf(path: string): string {
  return folderOf(path.slice(0, -1))
}

/** The name of a file, or of a folder without the separator at its end. A file and a folder beside it cannot share it. */
export function plainName(path: string): string {
  return isMarker(path) ? path.slice(0, -1) : path
}

/** The folder directly in `folder` that has the name; `undefined` if the name is in no other folder. */
export function childOf(folder: string, name: string): string | undefined {
  const at = name.indexOf(SEPARATOR, folder.length)
  return at === -1 ? undefined : name.slice(0, at + 1)
}

/** The name as it is shown in `folder`. */
export function nameIn(folder: string, name: string): string {
  return name.slice(folder.length)
}

/** A folder, or the name of a file, as it is shown in the folder around it. */
export function labelOf(path: string): string {
  return plainName(nameIn(parentOf(path), path))
}

/** The folders that a name is in, from the outermost below `base`. A folder itself is the last of its own. */
export function foldersAround(name: string, base = ''): readonly string[] {
  const folders: string[] = []
  for (let at = folderOf(name); at.length > base.length; at = parentOf(at)) folders.unshift(at)
  return folders
}
