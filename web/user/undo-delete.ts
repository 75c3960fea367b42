import { type Api, pathOf, ProblemError } from '../shared/api.ts'
import { messageOf } from '../shared/error-message.ts'
import type { FileEntry } from '../shared/model.ts'
import type { Toasts } from '../shared/toasts.tsx'
import { texts } from '../messages.ts'
import type { FileList } from './files/file-list.ts'

export interface RemovalsOptions {
  readonly api: Api
  readonly list: FileList
  readonly toasts: Toasts
  /** The file is gone from the service. */
  readonly onRemoved: (name: string) => void
}

export interface Removals {
  /** Hides the file at once, and deletes it after a time for second thoughts, or when the page is left. */
  remove(file: FileEntry): void
  /** Deletes now what is to be deleted under that name. */
  settle(name: string): Promise<void>
  /** Deletes now all that is to be deleted. */
  settleAll(): Promise<void>
}

interface Pending {
  readonly file: FileEntry
  readonly timer: ReturnType<typeof setTimeout>
  readonly takeToast: () => void
}

const SECOND_THOUGHTS_MS = 6_000

/** The service keeps nothing that was deleted, so what can be undone has not been asked of it yet. */
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
      onRemoved(name)
    } catch (error) {
      tell(name, error)
    }
    list.hide(name, false)
  }

  function tell(name: string, error: unknown): void {
    const code = error instanceof ProblemError ? error.code : undefined
    if (code === 'not_found') {
      list.drop(name)
      onRemoved(name)
    } else if (code === 'precondition_failed') toasts.show(texts.removal.changed(name))
    else toasts.show(texts.failed(messageOf(error)))
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
        // Else it has been asked for already, and its own end shows what became of the file.
        if (take(name) !== undefined) list.hide(name, false)
      }
      const takeToast = toasts.show(texts.removal.pending(name), { label: texts.undo, run: undo })
      const timer = setTimeout(() => void settle(name), SECOND_THOUGHTS_MS)
      pending.set(name, { file, timer, takeToast })
    },
    settle,
    settleAll,
  }
}

/** Deletes exactly what was seen, and not what has taken its name since. */
function send(api: Api, { name, etag }: FileEntry): Promise<void> {
  const headers = { 'if-match': `"${etag}"` }
  return api.call(pathOf(name), { method: 'DELETE', headers, keepalive: true })
}
