import { messages } from '../../messages.ts'
import type { Figures, UploadEntry } from '../../shared/model.ts'
import type { CapacityFigures } from '../capacity-figures.ts'
import type { FileList } from '../files/file-list.ts'
import { createExistingFiles } from './existing-files.ts'
import { isMarker } from '../../shared/folder.ts'
import { faultOf } from '../../shared/file-name.ts'
import type { Permissions } from '../permissions.ts'
import type { UnfinishedUploads } from './unfinished-uploads.ts'
import {
  adopt,
  isSameFile,
  nextName,
  RESUMABLE_BYTES,
  type UploadItem,
  type UploadState,
} from './upload-item.ts'

const { refusals } = messages.uploads

export interface UploadCheckOptions {
  readonly list: FileList
  readonly capacity: CapacityFigures
  readonly permissions: Permissions
  readonly unfinished: UnfinishedUploads
  /** Whether an item of this page sends that upload. */
  readonly isOwn: (uploadId: string) => boolean
}

/**
 * Finds a known reason for a refusal before any byte is sent, an interrupted upload to continue, and a free name if the
 * user keeps both files.
 */
export type UploadCheck = (
  item: UploadItem,
  signal: AbortSignal,
) => Promise<UploadState | undefined>

export function createUploadCheck(options: UploadCheckOptions): UploadCheck {
  const { capacity, permissions } = options
  const existing = createExistingFiles(options)
  return async (item, signal) => {
    const fault = faultOf(item.name)
    if (fault !== undefined) return refused(refusals[fault])
    for (;;) {
      const question = await findInterrupted(options, item)
      signal.throwIfAborted()
      if (question !== undefined) return question
      const { file, isFolder, around } = await existing(item)
      signal.throwIfAborted()
      item.replaced = file
      // The decision that the user made when the upload began still holds when it continues.
      if (item.uploadId !== undefined) break
      // Of a folder that is there, nothing is missing.
      if (file !== undefined && isMarker(item.name)) return { kind: 'done' }
      if (around !== undefined) return refused(refusals.file_around(around))
      if (isFolder) return refused(refusals.folder_exists)
      const obstacle = obstacleOf(item, permissions)
      if (obstacle === undefined) break
      if (obstacle.kind !== 'exists' || !item.findsName) return obstacle
      item.name = permissions.within(nextName(item.name))
    }
    const needed = neededBy(item)
    if (needed <= 0 || permissions.evicts()) return undefined
    const known = capacity.figures.value
    if (known !== undefined && needed <= freeFor(item, known)) return undefined
    // The known figures may be outdated.
    const figures = await capacity.read()
    if (figures === undefined || needed <= freeFor(item, figures)) return undefined
    return fullState(item, figures)
  }
}

function refused(text: string): UploadState {
  return { kind: 'refused', text }
}

/** Why the name cannot be used yet. If the token may not read, `replaced` is not known. */
function obstacleOf(item: UploadItem, { may }: Permissions): UploadState | undefined {
  const { replaced, mayReplace } = item
  if (replaced !== undefined) {
    return may('replace') && isAllowed(item, replaced) ? undefined : { kind: 'exists' }
  }
  if (may('create')) return undefined
  if (may('read')) return refused(refusals.absent)
  return mayReplace ? undefined : { kind: 'unseen' }
}

/** Adopts an interrupted upload of the same file, or returns the question that the user must answer first. */
async function findInterrupted(
  { unfinished, isOwn }: UploadCheckOptions,
  item: UploadItem,
): Promise<UploadState | undefined> {
  if (item.uploadId !== undefined) return undefined
  const isMatch = (upload: UploadEntry): boolean =>
    upload.name === item.name && upload.length === item.size && !isOwn(upload.upload_id)
  // Other clients can create resumable uploads of small files.
  const isLikely = item.size >= RESUMABLE_BYTES || unfinished.uploads.value.some(isMatch)
  const found = isLikely ? (await unfinished.read()).findLast(isMatch) : undefined
  if (found === undefined) return undefined
  if (found.state === 'receiving') return { kind: 'elsewhere', upload: found }
  if (!isSameFile(item, found)) return { kind: 'differs', upload: found }
  adopt(item, found)
  return undefined
}

/** The state of an upload that needs more than the available space, or did. */
export function fullState(item: UploadItem, figures: FreeSpace): UploadState {
  const available = freeFor(item, figures)
  return { kind: 'full', missing: Math.max(0, neededBy(item) - available), available }
}

type FreeSpace = Pick<Figures, 'capacity' | 'used' | 'available'>

/** An upload that has begun has reserved its space, so the reservations of other uploads do not matter. */
function freeFor({ uploadId }: UploadItem, { capacity, used, available }: FreeSpace): number {
  return uploadId === undefined ? available : Math.max(0, capacity - used)
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
