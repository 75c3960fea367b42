import type { FileEntry } from '../../shared/model.ts'
import type { FileList } from '../files/file-list.ts'
import { createSemaphore } from '../../shared/thumbnails/semaphore.ts'

/** Browsers open six connections per host; lists and figures need some of them. */
const AT_ONCE = 3

/**
 * The files with all their members. Asks for those that another device has changed, since the list lacks some of their
 * members, and leaves out those that are gone. Rejects with the first failure, and then asks for no more.
 */
export async function findMany(
  list: Pick<FileList, 'find' | 'put' | 'drop'>,
  files: readonly FileEntry[],
): Promise<readonly FileEntry[]> {
  const inTurn = createSemaphore(AT_ONCE)
  const failed = new AbortController()

  async function find(name: string): Promise<FileEntry | undefined> {
    failed.signal.throwIfAborted()
    try {
      const file = await list.find(name)
      if (file === undefined) list.drop(name)
      else list.put(file)
      return file
    } catch (error) {
      failed.abort(error)
      throw error
    }
  }

  const found = await Promise.all(
    files.map(async (file) =>
      file.keep === undefined ? await inTurn(() => find(file.name)) : file,
    ),
  )
  return found.filter((file) => file !== undefined)
}
