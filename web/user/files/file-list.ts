import { type ReadonlySignal, type Signal, batch, computed, signal } from '@preact/signals'
import { type Files, isProblem } from '../../../client/src/client.ts'
import type { FileEntry, Order } from '../../shared/model.ts'

/** The part of the `Permissions` that a list needs. */
export interface ListPermissions {
  readonly may: (action: 'read') => boolean
  readonly narrow: (prefix: string) => string
}

export interface FileList {
  readonly order: Signal<Order>
  readonly prefix: Signal<string>
  /** The files read so far, without those with a pending deletion. */
  readonly files: ReadonlySignal<readonly FileEntry[]>
  readonly isLoading: ReadonlySignal<boolean>
  readonly hasMore: ReadonlySignal<boolean>
  /** From before the first page was read; `undefined` until then. */
  readonly changesCursor: ReadonlySignal<string | undefined>
  /** Reads the first page again. */
  reload(): Promise<void>
  /** Reads the next page, or waits for a running read. */
  loadMore(): Promise<void>
  /** Reads all further pages, unless the list is read anew meanwhile. */
  loadAll(): Promise<void>
  /** Empties the list and ignores the result of a running read. */
  clear(): void
  /** Adds or replaces files. */
  put(...files: readonly FileEntry[]): void
  drop(...names: readonly string[]): void
  /** Hides files, or shows them again. */
  hide(names: readonly string[], isHidden: boolean): void
  /** Calls `hear` after each `put` and `drop`, also of files that are not read yet. */
  watch(hear: (change: ListChange) => void): void
  /** Asks the service for the user's file of that name; `undefined` for a token that may not read. */
  find(name: string): Promise<FileEntry | undefined>
}

export interface ListChange {
  readonly put: readonly FileEntry[]
  /** Names. */
  readonly dropped: readonly string[]
}

const PAGE_FILES = 500

/** The user's files, read page by page and updated without reading them again; none for a token that may not read. */
export function createFileList(
  service: Pick<Files, 'list' | 'get'>,
  { may, narrow }: ListPermissions,
): FileList {
  const order = signal<Order>('name')
  const prefix = signal('')
  const loaded = signal<readonly FileEntry[]>([])
  const hidden = signal<ReadonlySet<string>>(new Set())
  const cursor = signal<string | null>(null)
  const isLoading = signal(false)
  const changesCursor = signal<string>()
  /** The changes since the running read began, whose page may be older. */
  let changed: (() => void)[] = []
  let reading = 0
  let lastRead = Promise.resolve()
  const watchers: ((change: ListChange) => void)[] = []
  /** Another one, when the list is read anew. */
  const generation = { current: 0 }

  const files = computed(() =>
    hidden.value.size === 0
      ? loaded.value
      : loaded.value.filter(({ name }) => !hidden.value.has(name)),
  )

  async function read(after: string | null): Promise<void> {
    if (!may('read')) return
    const mine = (reading += 1)
    changed = []
    isLoading.value = true
    try {
      let next = after
      let files: readonly FileEntry[] = []
      let changes: string | undefined
      for await (const page of listFrom(after).pages()) {
        // A later read, with another order or search, has replaced this one.
        if (mine !== reading) return
        files = page.files
        changes ??= page.changes_cursor
        next = page.next_cursor
        // A page of a search can be empty, although later pages are not.
        if (files.length > 0) break
      }
      loaded.value = after === null ? files : [...loaded.value, ...notIn(loaded.value, files)]
      cursor.value = next
      for (const change of changed) change()
      if (after === null) changesCursor.value = changes
    } finally {
      if (mine === reading) isLoading.value = false
    }
  }

  function listFrom(after: string | null) {
    return service.list({
      order: order.value,
      limit: PAGE_FILES,
      prefix: narrow(prefix.value) || undefined,
      cursor: after ?? undefined,
    })
  }

  function notIn(others: readonly FileEntry[], files: readonly FileEntry[]): readonly FileEntry[] {
    const names = new Set(others.map(({ name }) => name))
    return files.filter(({ name }) => !names.has(name))
  }

  /** Makes the change now, and again in what a running read returns. */
  function make(change: () => void): void {
    if (isLoading.value) changed.push(change)
    change()
  }

  function put(file: FileEntry): void {
    const others = loaded.value.filter(({ name }) => name !== file.name)
    loaded.value = others
    if (!file.name.startsWith(narrow(prefix.value))) return
    const at = placeOf(file, { files: others, order: order.value })
    // It belongs to a page that is not read yet.
    if (at === others.length && cursor.value !== null) return
    loaded.value = others.toSpliced(at, 0, file)
  }

  function drop(dropped: ReadonlySet<string>): void {
    if (!loaded.value.some(({ name }) => dropped.has(name))) return
    loaded.value = loaded.value.filter(({ name }) => !dropped.has(name))
  }

  function tell(change: ListChange): void {
    for (const hear of watchers) hear(change)
  }

  async function loadMore(): Promise<void> {
    if (!isLoading.value && cursor.value !== null) lastRead = read(cursor.value)
    await lastRead
  }

  return {
    order,
    prefix,
    files,
    isLoading,
    hasMore: computed(() => cursor.value !== null),
    changesCursor,
    reload() {
      generation.current += 1
      return (lastRead = read(null))
    },

    loadMore,

    async loadAll() {
      const mine = generation.current
      while (generation.current === mine && cursor.value !== null) await loadMore()
    },

    put(...files) {
      make(() =>
        batch(() => {
          for (const file of files) put(file)
        }),
      )
      tell({ put: files, dropped: [] })
    },

    clear() {
      generation.current += 1
      reading += 1
      loaded.value = []
      hidden.value = new Set()
      cursor.value = null
      changesCursor.value = undefined
      isLoading.value = false
    },

    drop(...names) {
      const dropped = new Set(names)
      make(() => drop(dropped))
      tell({ put: [], dropped: names })
    },

    hide(names, isHidden) {
      const all = new Set(hidden.value)
      for (const name of names) {
        if (isHidden) all.add(name)
        else all.delete(name)
      }
      hidden.value = all
    },

    watch(hear) {
      watchers.push(hear)
    },

    async find(name) {
      if (!may('read')) return undefined
      try {
        return await service.get(name)
      } catch (error) {
        if (isProblem(error, 'not_found')) return undefined
        throw error
      }
    },
  }
}

/** Shows the list in another order. */
export function sort(list: FileList, order: Order): void {
  list.order.value = order
  // A refused token is handled by the session.
  list.reload().catch(() => undefined)
}

type Comparison = (a: FileEntry, b: FileEntry) => number

const byName: Comparison = (a, b) => compareBytes(a.name, b.name)
const bySize: Comparison = (a, b) => a.size - b.size || byName(a, b)
const byTime: Comparison = (a, b) =>
  Date.parse(a.updated_at) - Date.parse(b.updated_at) || byName(a, b)

const COMPARISONS: Readonly<Record<Order, Comparison>> = {
  name: byName,
  '-name': (a, b) => byName(b, a),
  size: bySize,
  '-size': (a, b) => bySize(b, a),
  updated_at: byTime,
  '-updated_at': (a, b) => byTime(b, a),
}

/** The index at which a file belongs in the sorted list. */
function placeOf(
  file: FileEntry,
  { files, order }: { readonly files: readonly FileEntry[]; readonly order: Order },
): number {
  const compare = COMPARISONS[order]
  let [low, high] = [0, files.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = files[middle]
    if (other !== undefined && compare(other, file) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Compares the UTF-8 bytes of two strings, as the service does. */
function compareBytes(a: string, b: string): number {
  const [x, y] = [new TextEncoder().encode(a), new TextEncoder().encode(b)]
  for (let at = 0; at < Math.min(x.length, y.length); at += 1) {
    const difference = (x[at] ?? 0) - (y[at] ?? 0)
    if (difference !== 0) return difference
  }
  return x.length - y.length
}
