import { texts } from '../../messages.ts'
import type { CapacityFigures } from '../capacity-figures.ts'
import type { FileList } from '../files/file-list.ts'
import { nextName, type UploadItem, type UploadState } from './upload-item.ts'

export interface UploadCheckOptions {
  readonly list: FileList
  readonly capacity: CapacityFigures
  /** Before a name is written to: deletes what is to be deleted under it. */
  readonly settle: (name: string) => Promise<void>
}

/** Says what of an upload is known to be refused, before a byte of it is sent; and finds a name for it where that is wanted. */
export type UploadCheck = (
  item: UploadItem,
  signal: AbortSignal,
) => Promise<UploadState | undefined>

export function createUploadCheck({ list, capacity, settle }: UploadCheckOptions): UploadCheck {
  return async (item, signal) => {
    if (!isFileName(item.name)) {
      return { kind: 'refused', text: texts.uploads.refusals.invalid_file_name }
    }
    await settle(item.name)
    for (;;) {
      item.replaced = await list.find(item.name)
      signal.throwIfAborted()
      if (item.replaced === undefined || isAllowed(item, item.replaced)) break
      if (!item.findsName) return { kind: 'exists' }
      item.name = nextName(item.name)
    }
    const needed = neededBy(item)
    if (needed <= 0) return undefined
    const known = capacity.figures.value?.available ?? 0
    if (needed <= known) return undefined
    // What is known may be old.
    const { available } = await capacity.read()
    return needed <= available ? undefined : fullState(item, available)
  }
}

/** What is said of an upload that does not fit, or did not, while so much is free. */
export function fullState(item: UploadItem, available: number): UploadState {
  return { kind: 'full', missing: Math.max(0, neededBy(item) - available), available }
}

function neededBy({ size, replaced }: UploadItem): number {
  return size - (replaced?.size ?? 0)
}

/**
 * Whether the file that has the name is one that the user lets go, or what an upload made of whose end nobody heard: of the
 * same size, and no older than the upload.
 */
function isAllowed(item: UploadItem, file: { size: number; updated_at: string }): boolean {
  if (item.mayReplace) return true
  const isOwn = item.startedAt > 0 && Date.parse(file.updated_at) >= item.startedAt - CLOCKS_MS
  return isOwn && file.size === item.size
}

/** How far the clocks of browser and service may differ. */
const CLOCKS_MS = 5_000

const MAX_NAME_BYTES = 255

function isFileName(name: string): boolean {
  const bytes = new TextEncoder().encode(name).length
  return bytes > 0 && bytes <= MAX_NAME_BYTES && name !== '.' && name !== '..'
}
