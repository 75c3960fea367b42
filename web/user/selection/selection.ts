import { type ReadonlySignal, computed, effect, signal, untracked } from '@preact/signals'
import type { FileEntry } from '../../shared/model.ts'
import type { FileList } from '../files/file-list.ts'
import type { Entry } from '../files/shown-entries.ts'
import { isSamePlace, shownIn } from '../files/view.ts'
import { SEPARATOR } from '../../shared/folder.ts'

/**
 * The files that the user has selected, by name. The selection outlives another order of the list and the reading of
 * further files. A file that is gone leaves it, and a search or another folder ends it; until that is shown, nothing can
 * be selected. A folder is selected by reading
 * and selecting all files below it.
 */
export interface Selection {
  /** As they are now, in the order in which they were selected. */
  readonly files: ReadonlySignal<readonly FileEntry[]>
  /** Whole folders, and the files that are in none of them. */
  readonly entries: ReadonlySignal<readonly Entry[]>
  /** Whether files of selected folders are still being read. */
  readonly isReading: ReadonlySignal<boolean>
  /** Of a folder, whether it has a selected file. */
  has(entry: Entry): boolean
  /** Selects a file or a folder, or leaves it out again. */
  toggle(entry: Entry): void
  /**
   * Selects the files of the list from the last toggled one up to `file`, in place of those of the last such range. With
   * a `from` at which that range does not end, a new one begins there.
   */
  extend(file: FileEntry, from?: FileEntry): void
  /**
   * Selects these files too, as they are in the list, except those that a complete list lacks, and those of another
   * user: they may be of one who was signed in before.
   */
  add(files: readonly FileEntry[]): void
  /** Selects the files of the list, and those of its folders. */
  addAll(): void
  readonly clear: () => void
}

type Chosen = ReadonlyMap<string, FileEntry>

const NOTHING: Chosen = new Map()

/** The names at both ends of a range, and those that were selected before it. */
interface Range {
  readonly anchor: string
  readonly end: string
  readonly before: ReadonlySet<string>
}

const NO_RANGE: Range = { anchor: '', end: '', before: new Set() }

/** `onFailed` is called if a folder cannot be read. */
export function createSelection(list: FileList, onFailed: (error: unknown) => void): Selection {
  const chosen = signal(NOTHING)
  const whole = signal<readonly string[]>([])
  let range = NO_RANGE
  /** The folders whose files are being read. */
  const reading = new Set<string>()
  const isReading = signal(false)

  function clear(): void {
    reading.clear()
    isReading.value = false
    range = NO_RANGE
    chosen.value = NOTHING
    whole.value = []
  }

  /** Whether the list still shows what was open before. Its rows are about to go, and nothing in it can be selected. */
  function isLeaving(): boolean {
    const [folder, search, device] = [list.path.value, list.search.value, list.device.value]
    return !isSamePlace(list.view.value, { folder, search, device })
  }

  function indexOf(name: string): number {
    return list.files.value.findIndex((file) => file.name === name)
  }

  /** Whether the list would have the file if it existed: it is not below a folder, and nothing is left to read. */
  function isExpected(name: string): boolean {
    const { view, hasMore } = list
    return !hasMore.value && view.value.device === '' && shownIn(view.value, name) === 'file'
  }

  function add(files: readonly FileEntry[]): void {
    if (isLeaving()) return
    const listed = mapOf(list.files.value)
    const current = files
      .filter((file) => list.owns(file) && file.name !== list.view.value.folder)
      .flatMap((file) => listed.get(file.name) ?? (isExpected(file.name) ? [] : file))
    const all = mapOf([...chosen.value.values(), ...current])
    range = { ...range, before: new Set(all.keys()) }
    chosen.value = all
  }

  function has(entry: Entry): boolean {
    if (typeof entry !== 'string') return chosen.value.has(entry.name)
    return whole.value.includes(entry) || hasFileIn(entry)
  }

  function hasFileIn(folder: string): boolean {
    return [...chosen.value.keys()].some((name) => name.startsWith(folder))
  }

  function isBeingRead(folder: string): boolean {
    return [...reading].some((each) => folder.startsWith(each))
  }

  function leaveOut(folders: readonly string[]): void {
    if (folders.length > 0) whole.value = whole.value.filter((each) => !folders.includes(each))
  }

  /** Selects folders, and the files of the one around them or of themselves. */
  async function addFolder(folder: string, folders: readonly string[]): Promise<void> {
    reading.add(folder)
    isReading.value = true
    whole.value = [...new Set([...whole.value, ...folders])]
    try {
      for await (const { files } of list.filesIn(folder)) {
        if (!reading.has(folder)) return
        add(files)
      }
    } catch (error) {
      leaveOut(folders)
      onFailed(error)
    }
    endReading(folder)
  }

  /** Whether it was being read. */
  function endReading(folder: string): boolean {
    const was = reading.delete(folder)
    isReading.value = reading.size > 0
    return was
  }

  function toggleFolder(folder: string): void {
    if (!endReading(folder) && !has(folder)) void addFolder(folder, [folder])
    else leaveOut([folder])
    const left = [...chosen.value].filter(([name]) => !name.startsWith(folder))
    if (left.length < chosen.value.size) chosen.value = new Map(left)
  }

  list.watch(({ put, dropped }) => {
    const old = chosen.value
    if (![...put.map(({ name }) => name), ...dropped].some((name) => old.has(name))) return
    const files = new Map(old)
    for (const file of put) if (files.has(file.name)) files.set(file.name, file)
    for (const name of dropped) files.delete(name)
    chosen.value = files
    leaveOut(whole.value.filter((folder) => !isBeingRead(folder) && !hasFileIn(folder)))
  })
  effect(() => {
    const files = list.files.value
    // What a complete list lacks is gone. Another read can find that, without a change that was heard of.
    if (list.hasMore.value || list.isLoading.value) return
    untracked(() => {
      if (chosen.value.size === 0) return
      const names = new Set(files.map(({ name }) => name))
      const left = [...chosen.value].filter(([name]) => names.has(name) || !isExpected(name))
      if (left.length < chosen.value.size) chosen.value = new Map(left)
    })
  })
  effect(() => {
    void [list.search.value, list.path.value, list.device.value]
    untracked(clear)
  })

  return {
    files: computed(() => [...chosen.value.values()]),
    entries: computed(() => {
      const folders = new Set(whole.value)
      const others = [...chosen.value.values()].filter(({ name }) => !isInOne(name, folders))
      return [...folders, ...others]
    }),
    isReading,
    has,

    toggle(file) {
      if (isLeaving()) return
      if (typeof file === 'string') return toggleFolder(file)
      const files = new Map(chosen.value)
      if (!files.delete(file.name)) files.set(file.name, file)
      range = { anchor: file.name, end: file.name, before: new Set(files.keys()) }
      chosen.value = files
    },

    extend(file, from) {
      if (isLeaving()) return
      const old = chosen.value
      const begins = from !== undefined && from.name !== range.end
      const before = begins ? new Set(old.keys()) : range.before
      const end = indexOf(file.name)
      const found = indexOf(begins ? from.name : range.anchor)
      const start = found === -1 ? end : found
      const files = list.files.value.slice(Math.min(start, end), Math.max(start, end) + 1)
      const anchor = list.files.value[start]?.name ?? ''
      range = { anchor, end: file.name, before }
      const others = [...old.values()].filter(({ name }) => before.has(name))
      chosen.value = mapOf([...others, ...files])
    },

    add,

    addAll() {
      if (isLeaving()) return
      add(list.files.value)
      const folders = list.entries.value.filter((entry) => typeof entry === 'string')
      const { isFlat, prefix } = list.view.value
      // In a flat view, there are files that are not listed, but in none of the folders.
      if (isFlat) for (const folder of folders) void addFolder(folder, [folder])
      else if (folders.length > 0) void addFolder(prefix, folders)
    },

    clear,
  }
}

function isInOne(name: string, folders: ReadonlySet<string>): boolean {
  for (let at = name.indexOf(SEPARATOR); at !== -1; at = name.indexOf(SEPARATOR, at + 1))
    if (folders.has(name.slice(0, at + 1))) return true
  return false
}

function mapOf(files: readonly FileEntry[]): Chosen {
  return new Map(files.map((file) => [file.name, file]))
}
