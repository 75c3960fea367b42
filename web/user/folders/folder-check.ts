import type { Files } from '../../../packages/js/src/client.ts'
import { throttle } from '../../shared/throttle.ts'

export interface FolderCheckOptions {
  readonly service: Pick<Files, 'list'>
  /** The part of a folder that the token permits. */
  readonly narrow: (folder: string) => string
  readonly onEmpty: (folder: string) => void
}

/** Finds out which folders have lost their last file. */
export interface FolderCheck {
  /** Asks the service soon; deletions until then share the request. */
  readonly doubt: (folder: string) => void
  /** It has a file again. */
  readonly trust: (folder: string) => void
}

export function createFolderCheck(options: FolderCheckOptions): FolderCheck {
  const { service, narrow, onEmpty } = options
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
        const wasEmpty = await isEmptyFolder(service, narrow(folder))
        if (wasEmpty && asked === folder) onEmpty(folder)
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

  return {
    doubt(folder) {
      doubted.add(folder)
      checkSoon()
    },

    trust(folder) {
      doubted.delete(folder)
      if (asked === folder) asked = undefined
    },
  }
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
