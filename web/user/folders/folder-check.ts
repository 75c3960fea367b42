import type { Files } from '../../../packages/js/src/client.ts'
import { throttle } from '../../shared/throttle.ts'
import type { FolderTotal } from '../files/shown-entries.ts'
import { plainName, SEPARATOR } from '../../shared/folder.ts'

export interface FolderCheckOptions {
  readonly service: Pick<Files, 'list'>
  /** The part of a folder that the token permits. */
  readonly narrow: (folder: string) => string
  readonly onEmpty: (folder: string) => void
  /** Called with what is in a folder, if the service counts. */
  readonly onCounted: (total: FolderTotal) => void
}

/** Finds out which folders have lost their last file, and what is in others that have changed. */
export interface FolderCheck {
  /** Asks the service soon; deletions until then share the request. */
  readonly doubt: (folder: string) => void
  /** Call it when the folder has got a file. */
  readonly trust: (folder: string) => void
}

export function createFolderCheck(options: FolderCheckOptions): FolderCheck {
  const { service, narrow, onEmpty, onCounted } = options
  const changed = new Set<string>()
  const doubted = new Set<string>()
  let isChecking = false
  /** The folder that the service is asked about; `undefined` if the answer no longer counts. */
  let asked: string | undefined

  async function check(): Promise<void> {
    if (isChecking) return
    isChecking = true
    try {
      const due = [...doubted]
      for (const folder of due) {
        // Deleted first: a file that it loses from now on is a new doubt.
        if (!doubted.delete(folder)) continue
        asked = folder
        const total = await totalOf(service, { folder, narrow })
        if (total !== undefined) onCounted(total)
        else if (await isEmptyFolder(service, narrow(folder))) {
          if (asked === folder) onEmpty(folder)
        }
      }
    } catch {
      // A refused token is handled by the session.
      doubted.clear()
    } finally {
      isChecking = false
    }
    if (doubted.size > 0) checkSoon()
  }

  const checkSoon = throttle(() => void check())

  const countSoon = throttle(() => {
    for (const folder of changed) doubted.add(folder)
    changed.clear()
    checkSoon()
  }, COUNT_MS)

  return {
    doubt(folder) {
      doubted.add(folder)
      checkSoon()
    },

    trust(folder) {
      doubted.delete(folder)
      if (asked === folder) asked = undefined
      changed.add(folder)
      countSoon()
    },
  }
}

/** Between two counts of folders that get many files. */
const COUNT_MS = 3_000

/** What is in a folder, by the first page of the names that begin as its own does; mostly it is alone there. */
async function totalOf(
  service: Pick<Files, 'list'>,
  { folder, narrow }: { readonly folder: string } & Pick<FolderCheckOptions, 'narrow'>,
): Promise<FolderTotal | undefined> {
  const prefix = narrow(plainName(folder))
  const options = { prefix, delimiter: SEPARATOR, folderTotals: true, limit: 10 }
  for await (const { folders } of service.list(options).pages())
    return folders?.find((each) => each.prefix === folder)
  return undefined
}

/** Whether no name begins with this. */
export async function isEmptyFolder(
  service: Pick<Files, 'list'>,
  prefix: string,
): Promise<boolean> {
  for await (const page of service.list({ prefix, limit: 1 }).pages()) {
    // An empty page of many expired files can have others after it.
    return page.files.length === 0 && page.next_cursor === null
  }
  return false
}
