import type { FileEntry, UploadEntry } from '../../shared/model.ts'
import { type GatheredFile, gatheredName } from '../../shared/gathered-file.ts'
import { childOf, folderOf } from '../../shared/folder.ts'

/** Files of at least this size are sent as resumable uploads. Sending a smaller file again takes little time. */
export const RESUMABLE_BYTES = 16 * 2 ** 20

/** `exists`, `unseen`, `full` and `refused` wait for the user; `lost`, `paused` and `signed_out` continue without one. */
export type UploadState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'checking' }
  | { readonly kind: 'sending' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'paused' }
  | { readonly kind: 'signed_out' }
  | { readonly kind: 'done' }
  | { readonly kind: 'exists' }
  /** The token may only replace files and not see them, so this may replace one. */
  | { readonly kind: 'unseen' }
  /** An interrupted upload has this name and size, but its file had another modification time. */
  | { readonly kind: 'differs'; readonly upload: UploadEntry }
  /** Another tab or device is sending it. */
  | { readonly kind: 'elsewhere'; readonly upload: UploadEntry }
  /** `missing` is 0 when there is enough space again. */
  | { readonly kind: 'full'; readonly missing: number; readonly available: number }
  | { readonly kind: 'refused'; readonly text: string }

/** A folder that is uploaded with all that is in it. Its uploads share this object. */
export interface UploadTree {
  readonly id: number
  /** As the files below begin, with the separator at its end. */
  readonly folder: string
}

/** One upload. It changes in place; views are notified separately. */
export interface UploadItem {
  readonly id: number
  /** The chosen folder that it is in. */
  readonly tree: UploadTree | undefined
  readonly content: Blob
  readonly size: number
  /** When the file was last modified, in milliseconds since 1970, as text; empty if unknown. */
  readonly modified: string
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
  /** The id of its resumable upload, once there is one. */
  uploadId: string | undefined
  /** Bytes of that upload that the service is known to have. */
  kept: number
}

export interface ItemsOptions {
  readonly files: readonly GatheredFile[]
  /** What a path of the chosen files becomes. */
  readonly nameOf: (path: string) => string
  readonly nextId: () => number
}

/** The uploads of files that are chosen together. */
export function createItems({ files, nameOf, nextId }: ItemsOptions): readonly UploadItem[] {
  const trees = new Map<string, UploadTree>()
  return files.map(({ content, path }) => {
    const name = gatheredName(path)
    const top = childOf('', name)
    if (top !== undefined && !trees.has(top)) trees.set(top, { id: nextId(), folder: nameOf(top) })
    const tree = top === undefined ? undefined : trees.get(top)
    return createItem({ id: nextId(), content, name: nameOf(name), tree })
  })
}

export interface ItemOptions {
  readonly id: number
  readonly content: Blob
  readonly name: string
  readonly tree: UploadTree | undefined
}

export function createItem({ id, content, name, tree }: ItemOptions): UploadItem {
  return {
    id,
    tree,
    content,
    size: content.size,
    modified: content instanceof File ? String(content.lastModified) : '',
    name,
    state: { kind: 'waiting' },
    sent: 0,
    tries: 0,
    startedAt: 0,
    mayReplace: false,
    findsName: false,
    replaced: undefined,
    uploadId: undefined,
    kept: 0,
  }
}

/** Makes the item continue an interrupted upload. */
export function adopt(item: UploadItem, { upload_id: id, offset }: UploadEntry): void {
  item.uploadId = id
  item.sent = offset
  item.kept = offset
}

/** Makes the item start again from its first byte. Returns the id of the upload that it had. */
export function disown(item: UploadItem): string | undefined {
  const { uploadId } = item
  item.uploadId = undefined
  item.sent = 0
  item.kept = 0
  return uploadId
}

export function isSameFile(item: UploadItem, { metadata }: UploadEntry): boolean {
  return item.modified !== '' && metadata['modified'] === item.modified
}

/** `photo.jpg`, `photo (2).jpg`, `photo (3).jpg` and so on. Numbers of more than nine digits count as text. */
export function nextName(name: string): string {
  const folder = folderOf(name)
  const [, stem = '', extension = ''] = /^(.+?)(\.[^.]*)?$/s.exec(name.slice(folder.length)) ?? []
  const [, base = stem, number = '1'] = /^(.*) \((\d{1,9})\)$/s.exec(stem) ?? []
  return `${folder}${base} (${Number(number) + 1})${extension}`
}
