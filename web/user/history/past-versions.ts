import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { History } from '../../../packages/js/src/client.ts'
import { firstPage } from '../../shared/connection.ts'
import type { PastVersion } from '../../shared/model.ts'
import { throttle } from '../../shared/throttle.ts'

export interface HistoryView {
  /** Only versions of this file name; `undefined` for those of all files. */
  readonly name: string | undefined
}

export interface PastVersions {
  /** `undefined` while the view is closed. */
  readonly view: ReadonlySignal<HistoryView | undefined>
  /** The versions read so far, newest end first. */
  readonly versions: ReadonlySignal<readonly PastVersion[]>
  /** Whether the first page is being read. */
  readonly isLoading: ReadonlySignal<boolean>
  readonly hasMore: ReadonlySignal<boolean>
  /** Opens the view, for one file name or for all. */
  open(name?: string): void
  close(): void
  loadMore(): void
  /** Reads the versions again soon if the view is open. */
  refresh(): void
  /** Removes a version that has left the history, or all. */
  forget(version?: string): void
}

const PAGE_VERSIONS = 100

/** The service's limit of a page. */
const MAX_PAGE_VERSIONS = 1_000

/** The replaced and deleted files in the view, read page by page while it is open. */
export function createPastVersions(history: Pick<History, 'list'>): PastVersions {
  const view = signal<HistoryView>()
  const versions = signal<readonly PastVersion[]>([])
  const cursor = signal<string | null>(null)
  const isLoading = signal(false)
  let reading = 0

  /** Only the result of the latest read counts. */
  async function read(after: string | null, limit: number): Promise<void> {
    const mine = (reading += 1)
    const options = { limit, name: view.value?.name, cursor: after ?? undefined }
    try {
      const page = await firstPage(history.list(options))
      if (mine !== reading || page === undefined) return
      versions.value = after === null ? page.versions : [...versions.value, ...page.versions]
      cursor.value = page.next_cursor
    } catch {
      // A refused token is handled by the session.
    } finally {
      if (mine === reading) isLoading.value = false
    }
  }

  const refresh = throttle(() => {
    if (view.value === undefined) return
    const pages = Math.max(1, Math.ceil(versions.value.length / PAGE_VERSIONS))
    void read(null, Math.min(pages * PAGE_VERSIONS, MAX_PAGE_VERSIONS))
  })

  function clear(): void {
    reading += 1
    versions.value = []
    cursor.value = null
    isLoading.value = false
  }

  return {
    view,
    versions,
    isLoading,
    hasMore: computed(() => cursor.value !== null),

    open(name) {
      clear()
      view.value = { name }
      isLoading.value = true
      void read(null, PAGE_VERSIONS)
    },

    close() {
      clear()
      view.value = undefined
    },

    loadMore() {
      if (cursor.value !== null) void read(cursor.value, PAGE_VERSIONS)
    },

    refresh,

    forget(version) {
      if (version === undefined) clear()
      else versions.value = versions.value.filter((past) => past.version !== version)
      // A running read may still have it.
      refresh()
    },
  }
}
