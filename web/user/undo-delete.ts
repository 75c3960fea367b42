import { type Api, pathOf, ProblemError } from '../shared/api.ts'
import { messageOf } from '../shared/error-message.ts'
import type { FileEntry } from '../shared/model.ts'
import type { Toasts } from '../shared/toasts.tsx'
import { messages } from '../messages.ts'
import type { FileList } from './files/file-list.ts'

export interface RemovalsOptions {
  readonly api: Api
  readonly list: FileList
  readonly toasts: Toasts
  /** Called when the service has no such file any more. */
  readonly onRemoved: () => void
}

export interface Removals {
  /** Hides the file at once. Deletes it after the undo period, or when the page is left. */
  remove(file: FileEntry): void
  /** Runs the pending deletion of that name now, if any. */
  settle(name: string): Promise<void>
  /** Runs all pending deletions now. */
  settleAll(): Promise<void>
}

interface Pending {
  readonly file: FileEntry
  readonly timer: ReturnType<typeof setTimeout>
  readonly takeToast: () => void
}

const UNDO_MS = 6_000

/** The service cannot restore a deleted file, so the request is sent when the undo period ends. */
export function createRemovals({ api, list, toasts, onRemoved }: RemovalsOptions): Removals {
  const pending = new Map<string, Pending>()

  function take(name: string): FileEntry | undefined {
    const removal = pending.get(name)
    if (removal === undefined) return undefined
    pending.delete(name)
    clearTimeout(removal.timer)
    removal.takeToast()
    return removal.file
  }

  async function settle(name: string): Promise<void> {
    const file = take(name)
    if (file === undefined) return
    try {
      await send(api, file)
      list.drop(name)
      onRemoved()
    } catch (error) {
      tell(name, error)
    }
    list.hide(name, false)
  }

  function tell(name: string, error: unknown): void {
    const code = error instanceof ProblemError ? error.code : undefined
    if (code === 'not_found') {
      list.drop(name)
      onRemoved()
    } else if (code === 'precondition_failed') toasts.show(messages.removal.changed(name))
    else toasts.show(messages.failed(messageOf(error)))
  }

  async function settleAll(): Promise<void> {
    await Promise.all([...pending.keys()].map(settle))
  }

  addEventListener('pagehide', () => void settleAll())

  return {
    remove(file) {
      const { name } = file
      list.hide(name, true)
      const undo = (): void => {
        // Otherwise the request was sent already, and its result updates the list.
        if (take(name) !== undefined) list.hide(name, false)
      }
      const takeToast = toasts.show(messages.removal.pending(name), {
        label: messages.undo,
        run: undo,
      })
      const timer = setTimeout(() => void settle(name), UNDO_MS)
      pending.set(name, { file, timer, takeToast })
    },
    settle,
    settleAll,
  }
}

/** Deletes only the version that the user saw, not a later file of that name. */
function send(api: Api, { name, etag }: FileEntry): Promise<void> {
  const headers = { 'if-match': `"${etag}"` }
  return api.call(pathOf(name), { method: 'DELETE', headers, keepalive: true })
}
