import type { FileEntry } from '../../shared/model.ts'

/** Where an upload stands. Those from `exists` on wait for the user, `lost`, `paused` and `signed_out` go on by themselves. */
export type UploadState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'checking' }
  | { readonly kind: 'sending' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'paused' }
  | { readonly kind: 'signed_out' }
  | { readonly kind: 'done' }
  | { readonly kind: 'exists' }
  /** Nothing is missing any more when there has come to be room. */
  | { readonly kind: 'full'; readonly missing: number; readonly available: number }
  | { readonly kind: 'refused'; readonly text: string }

/** One file on its way. It changes in place; whoever shows it is told apart from it. */
export interface UploadItem {
  readonly id: number
  readonly content: Blob
  readonly size: number
  name: string
  state: UploadState
  /** Bytes that have left. */
  sent: number
  /** Tries that failed since the user last asked for one. */
  tries: number
  /** When the first try began, in milliseconds since 1970; 0 before. */
  startedAt: number
  /** Whether a file that has the name may be replaced. */
  mayReplace: boolean
  /** Whether another name is to be found when this one is taken. */
  findsName: boolean
  /** Of the file that has the name. */
  replaced: FileEntry | undefined
}

export interface GatheredFile {
  readonly content: Blob
  /** With the folders that it was in, from the one that was chosen on. */
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

/** A repository has no folders, so a file's name begins with theirs, and a search for a folder's name finds what was in it. */
function nameOf(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '')
  return segments.join(' - ').replace(UNNAMEABLE, '_').toWellFormed()
}

/** What no name of a file may hold. */
// oxlint-disable-next-line no-control-regex
const UNNAMEABLE = /[\\\u0000-\u001f\u007f]/g

/** `photo.jpg`, `photo (2).jpg`, `photo (3).jpg` and so on. What cannot be counted up exactly is no number. */
export function nextName(name: string): string {
  const [, stem = name, extension = ''] = /^(.+?)(\.[^.]*)?$/s.exec(name) ?? []
  const [, base = stem, number = '1'] = /^(.*) \((\d{1,9})\)$/s.exec(stem) ?? []
  return `${base} (${Number(number) + 1})${extension}`
}
