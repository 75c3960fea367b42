import type { Files } from '../../../client/src/client.ts'
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

  async function isEmpty(folder: string): Promise<boolean> {
    for await (const page of service.list({ prefix: narrow(folder), limit: 1 }).pages()) {
      // An empty page of many expired files can have others after it.
      return page.files.length === 0 && page.next_cursor === null
    }
    return false
  }

  async function check(): Promise<void> {
    for (const folder of doubted) {
      const wasEmpty = await isEmpty(folder)
      if (wasEmpty && doubted.has(folder)) onEmpty(folder)
      doubted.delete(folder)
    }
  }

  // A refused token is handled by the session.
  const checkSoon = throttle(() => void check().catch(() => doubted.clear()))

  return {
    doubt(folder) {
      doubted.add(folder)
      checkSoon()
    },

    trust(folder) {
      doubted.delete(folder)
    },
  }
}
