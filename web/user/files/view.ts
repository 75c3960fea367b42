import type { Order } from '../../shared/model.ts'
import { fieldOf } from '../../shared/file-order.ts'
import { childOf, isMarker, nameIn } from '../../shared/folder.ts'

/** Which part of the repository a list shows, and how it is read. */
export interface View {
  /** The open folder, whose name the shown names leave out; empty for everything. */
  readonly folder: string
  /** All names begin with it. */
  readonly prefix: string
  /** All shown names contain it, in any case; empty for all. */
  readonly search: string
  /** Whose files alone are shown, by its id; empty for all. */
  readonly device: string
  /** Whether the files of folders are shown in place of the folders. */
  readonly isFlat: boolean
  /** The order of the service, in which the pages arrive. */
  readonly listed: Order
  /** Whether the pages arrive from the last one on. */
  readonly isFromEnd: boolean
  /** Whether everything was read and is sorted here; otherwise in the order of the service. */
  readonly isWhole: boolean
  /** Whether there is more than the page sorts by itself. */
  readonly isLarge: boolean
}

export const NOTHING: View = {
  folder: '',
  prefix: '',
  search: '',
  device: '',
  isFlat: false,
  listed: 'name',
  isFromEnd: false,
  isWhole: false,
  isLarge: false,
}

export interface ViewOptions {
  readonly folder: string
  readonly search: string
  readonly device: string
  readonly order: Order
  /** The part of a prefix that the token permits. */
  readonly narrow: (prefix: string) => string
  /** What is shown now. */
  readonly last: View
}

/** How a part of the repository is read first. The service lists folders by name only. */
export function viewOf(options: ViewOptions): View {
  const { folder, search, device, order, narrow, last } = options
  const isLarge = last.isLarge && isSamePlace(last, options)
  const isByName = fieldOf(order) === 'name'
  const isFlat = search !== '' || device !== '' || (isLarge && !isByName)
  const listed = isFlat || isByName ? order : 'name'
  const prefix = narrow(folder)
  return { ...NOTHING, folder, prefix, search, device, isFlat, listed, isLarge }
}

/** What the user has opened, in whatever order and however it is read. */
export type Place = Pick<View, 'folder' | 'search' | 'device'>

export function isSamePlace(one: Place, other: Place): boolean {
  return one.folder === other.folder && one.search === other.search && one.device === other.device
}

/** What a view shows for a name. */
export type Shown = 'nothing' | 'file' | { readonly folder: string }

/** A flat view shows a folder only for its marker. The marker of the open folder is not shown. */
export function shownIn(view: View, name: string): Shown {
  const { folder, prefix, search, isFlat } = view
  if (!name.startsWith(prefix) || !contains(nameIn(folder, name), search)) return 'nothing'
  if (name === folder) return 'nothing'
  const child = isFlat ? (isMarker(name) ? name : undefined) : childOf(folder, name)
  return child === undefined ? 'file' : { folder: child }
}

function contains(text: string, sought: string): boolean {
  return sought === '' || folded(text).includes(folded(sought))
}

/** As the service compares: by its place in a word, JavaScript gives another sigma. */
function folded(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ').normalize('NFC')
}
