import type { FileEntry } from '../../shared/model.ts'

/** `exists`, `full` and `refused` wait for the user; `lost`, `paused` and `signed_out` continue without one. */
export type UploadState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'checking' }
  | { readonly kind: 'sending' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'paused' }
  | { readonly kind: 'signed_out' }
  | { readonly kind: 'done' }
  | { readonly kind: 'exists' }
  /** `missing` is 0 when there is enough space again. */
  | { readonly kind: 'full'; readonly missing: number; readonly available: number }
  | { readonly kind: 'refused'; readonly text: string }

/** One upload. It changes in place; views are notified separately. */
export interface UploadItem {
  readonly id: number
  readonly content: Blob
  readonly size: number
  name: string
  state: UploadState
  /** Bytes sent. */
  sent: number
  /** Failed attempts since the user last started one. */
  tries: number
  /** Start of the first attempt, in milliseconds since 1970; 0 before. */
  startedAt: number
  /** Whether an existing file may be replaced. */
  mayReplace: boolean
  /** Whether to find another name if this one is taken. */
  findsName: boolean
  /** The existing file of that name. */
  replaced: FileEntry | undefined
}

export interface GatheredFile {
  readonly content: Blob
  /** Relative path from the chosen folder. */
  readonly path: string
}

export function createItem(id: number, { content, path }: GatheredFile): UploadItem {
  return {
    id,
    content,
    size: content.size,
    name: nameOf(path),
    state: { kind: 'waiting' },
    sent: 0,
    tries: 0,
    startedAt: 0,
    mayReplace: false,
    findsName: false,
    replaced: undefined,
  }
}

/** A repository has no folders, so file names are prefixed with them. A search for a folder's name finds its files. */
function nameOf(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '')
  return segments.join(' - ').replace(UNNAMEABLE, '_').toWellFormed()
}

/** Characters that file names must not contain. */
// oxlint-disable-next-line no-control-regex
const UNNAMEABLE = /[\\\u0000-\u001f\u007f]/g

/** `photo.jpg`, `photo (2).jpg`, `photo (3).jpg` and so on. Numbers of more than nine digits count as text. */
export function nextName(name: string): string {
  const [, stem = name, extension = ''] = /^(.+?)(\.[^.]*)?$/s.exec(name) ?? []
  const [, base = stem, number = '1'] = /^(.*) \((\d{1,9})\)$/s.exec(stem) ?? []
  return `${base} (${Number(number) + 1})${extension}`
}
