import type { Files } from '../../../packages/js/src/client.ts'
import { createSemaphore } from '../../shared/thumbnails/semaphore.ts'
import { isEmptyFolder } from '../folders/folder-check.ts'
import { parentOf, plainName, SEPARATOR } from '../../shared/folder.ts'
import type { FileList } from '../files/file-list.ts'
import type { EntryPage } from '../files/shown-entries.ts'

/** Browsers open six connections per host; lists and figures need some of them. */
const AT_ONCE = 3

/** Up to so many names are looked up one by one. For more, their folders are read. */
const FEW = 5

export interface TakenOptions {
  readonly service: Pick<Files, 'list'>
  readonly list: Pick<FileList, 'find'>
  /** The part of a prefix that the token permits. */
  readonly narrow: (prefix: string) => string
}

/**
 * The names that a file or a folder has, whichever of the two they are meant for. The service would store `a` beside
 * `a/b`, but file systems cannot.
 */
export async function takenNames(
  options: TakenOptions,
  names: readonly string[],
): Promise<readonly string[]> {
  const keys = names.map(plainName)
  if (keys.length > FEW) {
    const taken = new Set<string>()
    for (const folder of new Set(keys.map(parentOf))) {
      for await (const { files, prefixes = [] } of pagesIn(options, folder)) {
        for (const name of prefixes) taken.add(plainName(name))
        for (const { name } of files) taken.add(name)
      }
    }
    return keys.filter((key) => taken.has(key))
  }
  const inTurn = createSemaphore(AT_ONCE)
  const found = await Promise.all(keys.map((key) => inTurn(() => isTaken(options, key))))
  return keys.filter((_, at) => found[at])
}

async function isTaken({ service, list, narrow }: TakenOptions, key: string): Promise<boolean> {
  if ((await list.find(key)) !== undefined) return true
  return !(await isEmptyFolder(service, narrow(key + SEPARATOR)))
}

/** The files and folders directly in a folder. */
export function pagesIn(
  { service, narrow }: Pick<TakenOptions, 'service' | 'narrow'>,
  folder: string,
): AsyncIterable<EntryPage> {
  const prefix = narrow(folder) || undefined
  return service.list({ prefix, delimiter: SEPARATOR, limit: 1_000 }).pages()
}
