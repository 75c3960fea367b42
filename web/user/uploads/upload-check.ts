import { messages } from '../../messages.ts'
import type { CapacityFigures } from '../capacity-figures.ts'
import type { FileList } from '../files/file-list.ts'
import { nextName, type UploadItem, type UploadState } from './upload-item.ts'

export interface UploadCheckOptions {
  readonly list: FileList
  readonly capacity: CapacityFigures
  /** Runs the pending deletion of that name before an upload to it. */
  readonly settle: (name: string) => Promise<void>
}

/** Finds a known reason for a refusal before any byte is sent, and a free name if the user keeps both files. */
export type UploadCheck = (
  item: UploadItem,
  signal: AbortSignal,
) => Promise<UploadState | undefined>

export function createUploadCheck({ list, capacity, settle }: UploadCheckOptions): UploadCheck {
  return async (item, signal) => {
    if (!isFileName(item.name)) {
      return { kind: 'refused', text: messages.uploads.refusals.invalid_file_name }
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
    // The known figures may be outdated.
    const { available } = await capacity.read()
    return needed <= available ? undefined : fullState(item, available)
  }
}

/** The state of an upload that needs more than the available space, or did. */
export function fullState(item: UploadItem, available: number): UploadState {
  return { kind: 'full', missing: Math.max(0, neededBy(item) - available), available }
}

function neededBy({ size, replaced }: UploadItem): number {
  return size - (replaced?.size ?? 0)
}

/**
 * Whether the existing file may be replaced: the user has agreed, or it is probably the result of an earlier attempt
 * whose response was lost (it has the same size and is not older than the upload).
 */
function isAllowed(item: UploadItem, file: { size: number; updated_at: string }): boolean {
  if (item.mayReplace) return true
  const isOwn = item.startedAt > 0 && Date.parse(file.updated_at) >= item.startedAt - CLOCKS_MS
  return isOwn && file.size === item.size
}

/** Tolerated difference between the clocks of browser and service. */
const CLOCKS_MS = 5_000

const MAX_NAME_BYTES = 255

function isFileName(name: string): boolean {
  const bytes = new TextEncoder().encode(name).length
  return bytes > 0 && bytes <= MAX_NAME_BYTES && name !== '.' && name !== '..'
}
