import { effect, untracked } from '@preact/signals'
import { type Change, type Client, isProblem } from '../../../packages/js/src/client.ts'
import type { FileList } from './file-list.ts'

export interface FileFeedOptions {
  readonly client: Pick<Client, 'changes'>
  readonly list: FileList
  /** The id of the user who is signed in. */
  readonly userId: () => string
  /** Called after each change, of this tab too. */
  readonly onChange: () => void
}

/**
 * Shows in the list what other tabs and devices change: from the cursor of each first page that the list reads, until the
 * list is cleared. A hidden tab stops following and catches up when it is shown again, since a browser opens only six
 * connections to an origin.
 */
export function followFiles({ client, list, userId, onChange }: FileFeedOptions): void {
  let following: AbortController | undefined
  let cursor: string | undefined

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
    if (following !== undefined || document.hidden || cursor === undefined) return
    following = new AbortController()
    void follow(following.signal)
  }

  function close(): void {
    following?.abort()
    following = undefined
  }

  async function follow(signal: AbortSignal): Promise<void> {
    try {
      for await (const change of client.changes.follow({ cursor, signal })) {
        cursor = change.cursor
        apply(change)
      }
    } catch (error) {
      // The session handles a refused token.
      if (!signal.aborted && isProblem(error, 'cursor_expired')) await list.reload()
    }
  }

  function apply(change: Change): void {
    // Those of the capacity have no name.
    if (change.name === undefined) return onChange()
    if (ENDS.has(change.type)) list.drop(change.name)
    else put(change)
    onChange()
  }

  function put(change: FileChange): void {
    const {
      type,
      name,
      previous_name: previousName = name,
      version,
      visibility,
      size,
      at,
      device_id,
    } = change
    const files = list.files.value
    const shown = files.find((file) => file.name === name)
    const before = files.find((file) => file.name === previousName)
    if (previousName !== name) list.drop(previousName)
    // This tab has made the change itself.
    if (shown?.etag === version && shown.visibility === visibility) return
    const created_at = type === 'file.created' ? at : (before?.created_at ?? at)
    const times = { created_at, updated_at: at }
    list.put({ name, user_id: userId(), device_id, size, etag: version, visibility, ...times })
  }
}

type FileChange = Extract<Change, { readonly name: string }>

const ENDS: ReadonlySet<string> = new Set(['file.deleted', 'file.evicted', 'file.expired'])
