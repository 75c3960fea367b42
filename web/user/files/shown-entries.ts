import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { FileEntry, Order } from '../../shared/model.ts'
import {
  asPeople,
  asService,
  type Comparison,
  comparisonOf,
  foldersIn,
  placeOf,
} from '../../shared/file-order.ts'
import { NOTHING, shownIn, type View } from './view.ts'

/** A folder, with the separator at its end, or a file. */
export type Entry = string | FileEntry

export function asFile(entry: Entry | undefined): FileEntry | undefined {
  return typeof entry === 'string' ? undefined : entry
}

export function nameOf(entry: Entry): string {
  return typeof entry === 'string' ? entry : entry.name
}

/** A page of a listing. */
export interface EntryPage {
  readonly files: readonly FileEntry[]
  readonly prefixes?: readonly string[] | undefined
  readonly folders?: readonly FolderTotal[] | undefined
  readonly next_cursor: string | null
}

/** What is in a folder and those below; `null` where counting takes too long. */
export interface FolderTotal {
  readonly prefix: string
  readonly file_count: number | null
  readonly size: number | null
}

export interface ShownEntriesOptions {
  /** In which a whole view is sorted. */
  readonly order: ReadonlySignal<Order>
  /** Called for a folder that has got a file. */
  readonly onFilled: (folder: string) => void
  /** Called for a folder that has lost a file, which can have been its last. */
  readonly onLost: (folder: string) => void
}

/** What was read of a view so far, in the order in which it is shown. */
export interface ShownEntries {
  readonly view: Signal<View>
  readonly files: ReadonlySignal<readonly FileEntry[]>
  /** The folders, then the files. */
  readonly entries: ReadonlySignal<readonly Entry[]>
  /** By folder, as far as the service has counted. */
  readonly totals: ReadonlySignal<ReadonlyMap<string, FolderTotal>>
  /** Where the next page begins; `null` after the last. */
  readonly cursor: ReadonlySignal<string | null>
  /** How many entries the later pages have put before those that were there. */
  readonly putBefore: ReadonlySignal<number>
  /** Shows nothing of a view yet. */
  begin(view: View): void
  add(page: EntryPage): void
  readonly count: (...counted: readonly FolderTotal[]) => void
  /** Sorts a whole view in the present order. */
  arrange(): void
  put(file: FileEntry): void
  drop(names: ReadonlySet<string>): void
  dropFolder(folder: string): void
  /** Hides files and folders, or shows them again. */
  readonly hide: (names: readonly string[], isHidden: boolean) => void
  clear(): void
}

export function createShownEntries(options: ShownEntriesOptions): ShownEntries {
  const { order, onFilled, onLost } = options
  const view = signal(NOTHING)
  const loaded = signal<readonly FileEntry[]>([])
  const folders = signal<readonly string[]>([])
  const hidden = signal<ReadonlySet<string>>(new Set())
  const cursor = signal<string | null>(null)
  const putBefore = signal(0)
  const totals = signal<ReadonlyMap<string, FolderTotal>>(new Map())

  const files = computed(() =>
    hidden.value.size === 0
      ? loaded.value
      : loaded.value.filter(({ name }) => !hidden.value.has(name)),
  )

  const entries = computed<readonly Entry[]>(() => {
    const shown = folders.value.filter((folder) => !hidden.value.has(folder))
    return shown.length === 0 ? files.value : [...shown, ...files.value]
  })

  function comparison(): Comparison<FileEntry> {
    const { isWhole, listed } = view.value
    return isWhole ? comparisonOf(order.value, asPeople) : comparisonOf(listed, asService)
  }

  function begin(next: View): void {
    view.value = next
    loaded.value = []
    folders.value = []
    cursor.value = null
    putBefore.value = 0
    totals.value = new Map()
  }

  function count(...counted: readonly FolderTotal[]): void {
    totals.value = new Map([
      ...totals.value,
      ...counted.map((each) => [each.prefix, each] as const),
    ])
  }

  function add(page: EntryPage): void {
    const { files: read, prefixes = [], folders: counted = [], next_cursor: next } = page
    const { isFromEnd, isLarge } = view.value
    const isFirst = entries.value.length === 0
    const newFiles = notAmong(loaded.value, read, ({ name }) => name)
    const newFolders = notAmong(folders.value, prefixes, (prefix) => prefix)
    const before = newFolders.length + (isFromEnd ? newFiles.length : 0)
    if (!isFirst) putBefore.value += before
    loaded.value = joined(loaded.value, newFiles, isFromEnd)
    folders.value = joined(folders.value, newFolders, isFromEnd)
    cursor.value = next
    if (counted.length > 0) count(...counted)
    if (next !== null || isLarge) return
    view.value = { ...view.value, isWhole: true }
    arrange()
  }

  function arrange(): void {
    loaded.value = loaded.value.toSorted(comparison())
    folders.value = folders.value.toSorted(foldersIn(order.value, view.value.isWhole))
  }

  function put(file: FileEntry): void {
    const others = loaded.value.filter(({ name }) => name !== file.name)
    loaded.value = others
    const { device } = view.value
    const shown = shownIn(view.value, file.name)
    if (shown === 'nothing' || (device !== '' && file.device_id !== device)) return
    if (shown !== 'file') {
      putFolder(shown.folder)
      return
    }
    const at = placeOf(file, others, comparison())
    // It belongs to a page that is not read yet.
    if (cursor.value !== null && at === (view.value.isFromEnd ? 0 : others.length)) return
    loaded.value = others.toSpliced(at, 0, file)
  }

  function putFolder(folder: string): void {
    onFilled(folder)
    if (folders.value.includes(folder)) return
    const compare = foldersIn(order.value, view.value.isWhole)
    folders.value = folders.value.toSpliced(placeOf(folder, folders.value, compare), 0, folder)
  }

  function drop(names: ReadonlySet<string>): void {
    for (const name of names) {
      const shown = shownIn(view.value, name)
      if (typeof shown === 'object' && folders.value.includes(shown.folder)) onLost(shown.folder)
    }
    if (!loaded.value.some(({ name }) => names.has(name))) return
    loaded.value = loaded.value.filter(({ name }) => !names.has(name))
  }

  return {
    view,
    files,
    entries,
    cursor,
    putBefore,
    totals,
    begin,
    add,
    count,
    arrange: () => batch(arrange),
    put,
    drop,

    dropFolder(dropped) {
      folders.value = folders.value.filter((folder) => folder !== dropped)
    },

    hide(names, isHidden) {
      const all = new Set(hidden.value)
      for (const name of names) {
        if (isHidden) all.add(name)
        else all.delete(name)
      }
      hidden.value = all
    },

    clear() {
      begin(NOTHING)
      hidden.value = new Set()
    },
  }
}

/** A file that changed while the pages are read can be on two of them. */
function notAmong<T>(known: readonly T[], read: readonly T[], keyOf: (entry: T) => string) {
  const keys = new Set(known.map(keyOf))
  return read.filter((entry) => !keys.has(keyOf(entry)))
}

/** Pages from the end have their last entry first. */
function joined<T>(known: readonly T[], read: readonly T[], isFromEnd: boolean): readonly T[] {
  return isFromEnd ? [...read.toReversed(), ...known] : [...known, ...read]
}
