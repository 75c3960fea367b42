/**
 * A repository has no folders: names that begin alike, up to this character, are shown as one. No name can contain a
 * slash. This character is rare in names, valid in every file system, and looks like what it means.
 */
export const SEPARATOR = '›'

/** The innermost folder of a name, up to and including the separator; empty if it is in none. */
export function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf(SEPARATOR) + 1)
}

/** The folder directly in `folder` that has the name; `undefined` if the name is in no other folder. */
export function childOf(folder: string, name: string): string | undefined {
  const at = name.indexOf(SEPARATOR, folder.length)
  return at === -1 ? undefined : name.slice(0, at + 1)
}

/** The name as it is shown in `folder`. A file can have the very name of a folder. */
export function nameIn(folder: string, name: string): string {
  return name.slice(folder.length) || name
}

/** A folder as it is shown in the one around it. Two separators in a row have no name between them. */
export function labelOf(folder: string): string {
  return nameIn(folderOf(folder.slice(0, -1)), folder).slice(0, -1) || SEPARATOR
}

/** The folders from the outermost below `base` to this one. */
export function wayTo(folder: string, base: string): readonly string[] {
  const way: string[] = []
  for (let at = folder; at.length > base.length; at = folderOf(at.slice(0, -1))) way.unshift(at)
  return way
}

/** Text that the user typed: a slash separates folders too. */
export function typedName(text: string): string {
  return text.replaceAll('/', SEPARATOR)
}
