import { effect, untracked } from '@preact/signals'
import { type Api, ProblemError } from '../../shared/api.ts'
import type { ChangeEntry } from '../../shared/model.ts'
import { backOffMs, pause } from '../../shared/sleep.ts'
import type { FileList } from './file-list.ts'

export interface FileFeedOptions {
  readonly api: Pick<Api, 'urlOf' | 'read'>
  readonly list: FileList
  /** The id of the user who is signed in. */
  readonly userId: () => string
  /** Called after each change, of this tab too. */
  readonly onChange: () => void
}

/**
 * Shows in the list what other tabs and devices change, from server-sent events: from the cursor of each first page that
 * the list reads, until the list is cleared. A hidden tab closes its stream and catches up when it is shown again, since a
 * browser opens only six connections to an origin.
 */
export function followFiles({ api, list, userId, onChange }: FileFeedOptions): void {
  let source: EventSource | undefined
  let cursor: string | undefined
  let failures = 0

  effect(() => {
    const from = list.changesCursor.value
    untracked(() => {
      cursor = from
      close()
      open()
    })
  })
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()))

  function open(): void {
    if (source !== undefined || document.hidden || cursor === undefined) return
    const opened = new EventSource(api.urlOf(pathOf(cursor)))
    source = opened
    opened.addEventListener('open', () => (failures = 0))
    opened.addEventListener('change', ({ data, lastEventId }: MessageEvent<string>) => {
      cursor = lastEventId
      apply(JSON.parse(data) as ChangeEntry)
    })
    opened.addEventListener('error', () => {
      // A browser reconnects by itself unless the service has refused.
      if (opened.readyState === EventSource.CLOSED) void openAgain(opened)
    })
  }

  function close(): void {
    source?.close()
    source = undefined
  }

  /** Asks why the stream was refused, since `EventSource` does not tell. The session handles a refused token. */
  async function openAgain(refused: EventSource): Promise<void> {
    failures += 1
    await pause(backOffMs(failures))
    if (source !== refused || cursor === undefined) return
    try {
      await api.read(`${pathOf(cursor)}&limit=1`)
    } catch (error) {
      const isExpired = error instanceof ProblemError && error.code === 'cursor_expired'
      if (isExpired && source === refused) await list.reload().catch(() => undefined)
      return
    }
    if (source !== refused) return
    close()
    open()
  }

  function apply(change: ChangeEntry): void {
    if (ENDS.has(change.type)) list.drop(change.name)
    else if (change.type.startsWith('file.')) put(change)
    onChange()
  }

  function put(change: ChangeEntry): void {
    const { type, name, previous_name: previousName = name, version, visibility, size, at } = change
    const files = list.files.value
    const shown = files.find((file) => file.name === name)
    const before = files.find((file) => file.name === previousName)
    if (previousName !== name) list.drop(previousName)
    // This tab has made the change itself.
    if (shown?.etag === version && shown.visibility === visibility) return
    const created_at = type === 'file.created' ? at : (before?.created_at ?? at)
    const times = { created_at, updated_at: at }
    list.put({ name, user_id: userId(), size, etag: version, visibility, ...times })
  }
}

const ENDS: ReadonlySet<string> = new Set(['file.deleted', 'file.evicted', 'file.expired'])

function pathOf(cursor: string): string {
  return `users/me/changes?${new URLSearchParams({ cursor }).toString()}`
}
