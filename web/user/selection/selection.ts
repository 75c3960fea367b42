import { type ReadonlySignal, computed, effect, signal, untracked } from '@preact/signals'
import type { FileEntry } from '../../shared/model.ts'
import type { FileList } from '../files/file-list.ts'
import { shownIn } from '../files/view.ts'

/**
 * The files that the user has selected, by name. The selection outlives another order of the list and the reading of
 * further files. A file that is gone or now inside a shown folder leaves it, and a search or another folder ends it.
 */
export interface Selection {
  /** As they are now, in the order in which they were selected. */
  readonly files: ReadonlySignal<readonly FileEntry[]>
  has(name: string): boolean
  /** Selects a file, or leaves it out again. */
  toggle(file: FileEntry): void
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

export function createSelection(list: FileList): Selection {
  const chosen = signal(NOTHING)
  let range = NO_RANGE

  function clear(): void {
    range = NO_RANGE
    chosen.value = NOTHING
  }

  function indexOf(name: string): number {
    return list.files.value.findIndex((file) => file.name === name)
  }

  list.watch(({ put, dropped }) => {
    const old = chosen.value
    if (![...put.map(({ name }) => name), ...dropped].some((name) => old.has(name))) return
    const files = new Map(old)
    for (const file of put) if (files.has(file.name)) files.set(file.name, file)
    for (const name of dropped) files.delete(name)
    chosen.value = files
  })
  effect(() => {
    const [files, view] = [list.files.value, list.view.value]
    if (list.isLoading.value) return
    // What a complete list lacks is gone. Another read can find that, without a change that was heard of.
    const isComplete = !list.hasMore.value
    untracked(() => {
      if (chosen.value.size === 0) return
      const names = new Set(files.map(({ name }) => name))
      const left = [...chosen.value].filter(([name]) =>
        isComplete ? names.has(name) : shownIn(view, name) === 'file',
      )
      if (left.length < chosen.value.size) chosen.value = new Map(left)
    })
  })
  effect(() => {
    void [list.search.value, list.path.value]
    untracked(clear)
  })

  return {
    files: computed(() => [...chosen.value.values()]),
    has: (name) => chosen.value.has(name),

    toggle(file) {
      const files = new Map(chosen.value)
      if (!files.delete(file.name)) files.set(file.name, file)
      range = { anchor: file.name, end: file.name, before: new Set(files.keys()) }
      chosen.value = files
    },

    extend(file, from) {
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

    add(files) {
      const listed = mapOf(list.files.value)
      const current = files
        .filter(list.owns)
        .flatMap((file) => listed.get(file.name) ?? (list.hasMore.value ? file : []))
      const all = mapOf([...chosen.value.values(), ...current])
      range = { ...range, before: new Set(all.keys()) }
      chosen.value = all
    },

    clear,
  }
}

function mapOf(files: readonly FileEntry[]): Chosen {
  return new Map(files.map((file) => [file.name, file]))
}
