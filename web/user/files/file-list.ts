import { batch, type ReadonlySignal, type Signal, computed, signal } from '@preact/signals'
import { type Files, isProblem } from '../../../packages/js/src/client.ts'
import type { FileEntry, Order } from '../../shared/model.ts'
import { findEntries } from './entry-pages.ts'
import { folderOf } from '../../shared/folder.ts'
import { createFolderCheck } from '../folders/folder-check.ts'
import { createShownEntries, type EntryPage, type ShownEntries } from './shown-entries.ts'
import { type View, viewOf } from './view.ts'

/** The part of the `Permissions` that a list needs. */
export interface ListPermissions {
  readonly may: (action: 'read') => boolean
  readonly owns: (file: FileEntry) => boolean
  readonly narrow: (prefix: string) => string
}

/** No read rejects: `failure` tells why it failed. */
export interface FileList extends Pick<
  ShownEntries,
  'files' | 'entries' | 'totals' | 'putBefore' | 'hide'
> {
  readonly order: ReadonlySignal<Order>
  /** What the names must contain; empty for all names. */
  readonly search: Signal<string>
  /** The folder to open, with the separator at its end; empty for everything. */
  readonly folder: Signal<string>
  /** Whose files alone are shown; empty for all. */
  readonly device: Signal<string>
  /** The folder that is open: not the one to open if the token does not permit it. */
  readonly path: ReadonlySignal<string>
  /** The folder around everything that the token permits; mostly empty. */
  readonly base: ReadonlySignal<string>
  /** What is shown, until the first page of something else has been read. */
  readonly view: ReadonlySignal<View>
  /** The file or folder that gets the focus as soon as it is listed, such as a new folder. */
  readonly destination: Signal<string | undefined>
  readonly isLoading: ReadonlySignal<boolean>
  /** Why the last read failed; `undefined` if it did not. The session handles a refused token. */
  readonly failure: ReadonlySignal<unknown>
  readonly hasMore: ReadonlySignal<boolean>
  /** From before the first page was read; `undefined` until then. */
  readonly changesCursor: ReadonlySignal<string | undefined>
  /** Reads the list anew, until all is there or it is too much to be sorted here. */
  reload(): Promise<void>
  sort(order: Order): Promise<void>
  /** Shows only names that contain the text. */
  seek(text: string): Promise<void>
  /** Reads the next page, or waits for a running read. */
  loadMore(): Promise<void>
  /** Reads all further pages, unless the list is read anew meanwhile. */
  loadAll(): Promise<void>
  /** Reads from that end on, unless all is there. */
  jump(to: 'start' | 'end'): Promise<void>
  /** Empties the list and ignores the result of a running read. */
  clear(): void
  /** Adds or replaces files. Ignores those of another user: their response came after the sign-in of this one. */
  put(...files: readonly FileEntry[]): void
  drop(...names: readonly string[]): void
  /** Takes a folder that is gone from what is shown. */
  readonly dropFolder: (folder: string) => void
  /** Whether the file is of the user whose files these are. */
  readonly owns: (file: FileEntry) => boolean
  /** Calls `hear` after each `put` and `drop`, also of files that are not read yet. */
  watch(hear: (change: ListChange) => void): void
  /** Asks the service for the user's file of that name; `undefined` for a token that may not read. */
  find(name: string): Promise<FileEntry | undefined>
  /** Pages of all files in a folder and those below. */
  filesIn(folder: string): AsyncIterable<EntryPage>
}

export interface ListChange {
  readonly put: readonly FileEntry[]
  /** Names. */
  readonly dropped: readonly string[]
}

/** So many entries are read at once, to sort them as people do. */
const MOST_SORTED = 2_000

/** The user's files, read page by page and updated without reading them again; none for a token that may not read. */
export function createFileList(
  service: Pick<Files, 'list' | 'get'>,
  { may, owns, narrow }: ListPermissions,
): FileList {
  const order = signal<Order>('name')
  const search = signal('')
  const folder = signal('')
  const device = signal('')
  const destination = signal<string>()
  const isLoading = signal(false)
  const failure = signal<unknown>(undefined)
  const changesCursor = signal<string>()
  const check = createFolderCheck({
    service,
    narrow,
    onEmpty: (empty) => shown.dropFolder(empty),
    onCounted: (total) => shown.count(total),
  })
  const shown = createShownEntries({ order, onFilled: check.trust, onLost: check.doubt })
  const { view, files, entries, totals, cursor, putBefore, hide } = shown
  /** The changes since the running read began, whose page may be older. */
  let changed: (() => void)[] = []
  let reading = 0
  let lastRead = Promise.resolve()
  const watchers: ((change: ListChange) => void)[] = []
  let lastReload = Promise.resolve()
  /** Another one, when the list is read anew. */
  let generation = 0

  const base = computed(() => folderOf(narrow('')))
  const path = computed(() => (folder.value.startsWith(base.value) ? folder.value : base.value))

  const wanted = (): View =>
    viewOf({
      folder: path.value,
      device: device.value,
      search: search.value,
      order: order.value,
      narrow,
      last: view.value,
    })

  async function readAll(): Promise<void> {
    const mine = (generation += 1)
    const first = wanted()
    await readFirst(first)
    const isOpen = (): boolean => mine === generation && cursor.value !== null
    while (isOpen() && !first.isLarge && entries.value.length < MOST_SORTED) await loadMore()
    if (!isOpen()) return
    view.value = { ...view.value, isLarge: true }
    const again = wanted()
    if (again.isFlat !== first.isFlat || again.listed !== first.listed) await readFirst(again)
  }

  async function readFirst(next: View): Promise<void> {
    await (lastRead = read(next, null))
  }

  async function read(next: View, after: string | null): Promise<void> {
    if (!may('read')) return
    const mine = (reading += 1)
    changed = []
    isLoading.value = true
    failure.value = undefined
    try {
      const { page, changes } = await findEntries(service, {
        view: next,
        after,
        isWanted: () => mine === reading,
      })
      if (mine !== reading) return
      batch(() => {
        if (after === null) shown.begin(next)
        shown.add(page)
        for (const change of changed) change()
        if (after === null) changesCursor.value = changes
      })
    } catch (error) {
      if (mine === reading) failure.value = error
      throw error
    } finally {
      if (mine === reading) isLoading.value = false
    }
  }

  /** Makes the change now, and again in what a running read returns. */
  function make(change: () => void): void {
    if (isLoading.value) changed.push(change)
    change()
  }

  function tell(change: ListChange): void {
    for (const hear of watchers) hear(change)
  }

  async function loadMore(): Promise<void> {
    if (!isLoading.value && cursor.value !== null) lastRead = read(view.value, cursor.value)
    await lastRead
  }

  async function reload(): Promise<void> {
    await (lastReload = readAll())
  }

  async function sort(next: Order): Promise<void> {
    order.value = next
    if (view.value.isWhole && !isLoading.value) shown.arrange()
    else await reload()
  }

  async function loadAll(): Promise<void> {
    const mine = generation
    const isOpen = (): boolean => mine === generation && cursor.value !== null
    while (isOpen()) await loadMore()
  }

  async function jump(to: 'start' | 'end'): Promise<void> {
    await lastReload
    const isFromEnd = to === 'end'
    if (cursor.value === null || view.value.isFromEnd === isFromEnd) return
    generation += 1
    await readFirst({ ...view.value, isFromEnd })
  }

  /** Resolves also if a read has failed, as `failure` tells. */
  async function ended(reads: Promise<void>): Promise<void> {
    await reads.catch(() => undefined)
  }

  return {
    order,
    search,
    folder,
    device,
    view,
    files,
    entries,
    totals,
    putBefore,
    destination,
    isLoading,
    failure,
    hasMore: computed(() => cursor.value !== null),
    changesCursor,
    path,
    base,
    owns,
    reload: () => ended(reload()),
    sort: (next) => ended(sort(next)),

    seek(text) {
      search.value = text
      return ended(reload())
    },

    loadMore: () => ended(loadMore()),
    loadAll: () => ended(loadAll()),
    jump: (to) => ended(jump(to)),

    put(...changed) {
      const files = changed.filter(owns)
      make(() =>
        batch(() => {
          for (const file of files) shown.put(file)
        }),
      )
      tell({ put: files, dropped: [] })
    },

    drop(...names) {
      const dropped = new Set(names)
      make(() => batch(() => shown.drop(dropped)))
      tell({ put: [], dropped: names })
    },

    dropFolder: (gone) => make(() => shown.dropFolder(gone)),

    hide,
    filesIn: (prefix) => service.list({ prefix: prefix || undefined, limit: 1_000 }).pages(),

    watch(hear) {
      watchers.push(hear)
    },

    clear() {
      generation += 1
      reading += 1
      shown.clear()
      changesCursor.value = undefined
      failure.value = undefined
      isLoading.value = false
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
