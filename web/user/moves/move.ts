import { type Entry, nameOf } from '../files/shown-entries.ts'
import { nameIn, parentOf } from '../../shared/folder.ts'

/** A file, or a folder with everything in it, and its new name. That of a folder ends with a slash. */
export interface Move {
  readonly entry: Entry
  readonly to: string
}

/** Moves entries into a folder. Leaves out those that are there. */
export function planMoves(entries: readonly Entry[], folder: string): readonly Move[] {
  return entries
    .map((entry) => {
      const path = nameOf(entry)
      return { entry, to: folder + nameIn(parentOf(path), path) }
    })
    .filter(({ entry, to }) => nameOf(entry) !== to)
}

/** Whether the folder is one of these, or in one of them. */
export function isWithin(folder: string, entries: readonly Entry[]): boolean {
  return entries.some((entry) => typeof entry === 'string' && folder.startsWith(entry))
}

/** The new name of a file that is moved, itself or with its folder. */
export function nameAfter({ entry, to }: Move, name: string): string {
  return to + name.slice(nameOf(entry).length)
}
