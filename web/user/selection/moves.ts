import type { FileEntry } from '../../shared/model.ts'
import { folderOf } from '../folders/folder.ts'

/** A file, and its new name. */
export interface Move {
  readonly file: FileEntry
  readonly name: string
}

/** The longest text that all names begin with; empty without names. */
export function commonPrefix(names: readonly string[]): string {
  const [first = '', ...others] = names
  let length = first.length
  for (const name of others) {
    while (!name.startsWith(first.slice(0, length))) length -= 1
  }
  const prefix = first.slice(0, length)
  // Half a character is none.
  return prefix.isWellFormed() ? prefix : prefix.slice(0, -1)
}

/** Whether the text ends where a word does. Otherwise, other files are likely to begin with it by chance. */
export function isWholeWord(prefix: string): boolean {
  return /[^\p{L}\p{N}]$/u.test(prefix)
}

/** What all names begin with, as far as it is the name of a folder. */
export function commonFolder(names: readonly string[]): string {
  return folderOf(commonPrefix(names))
}

/**
 * Replaces `from` at the beginning of the names by `to`; other files are left out. The order is one in which each name is
 * free before a file gets it, as long as none is taken by another file.
 */
export function planMoves(
  files: readonly FileEntry[],
  { from, to }: { readonly from: string; readonly to: string },
): readonly Move[] {
  if (from === to) return []
  const moves = files
    .filter(({ name }) => name.startsWith(from))
    .map((file) => ({ file, name: to + file.name.slice(from.length) }))
  // All names become longer, or all become shorter, and only a file of another length is in the way.
  const direction = to.length > from.length ? -1 : 1
  return moves.sort((a, b) => direction * (a.file.name.length - b.file.name.length))
}

/** The new names that other files of the list have. */
export function takenNames(
  moves: readonly Move[],
  files: readonly FileEntry[],
): ReadonlySet<string> {
  const leaving = new Set(moves.map(({ file }) => file.name))
  const others = new Set(files.map(({ name }) => name).filter((name) => !leaving.has(name)))
  return new Set(moves.map(({ name }) => name).filter((name) => others.has(name)))
}
