import type { AppendToPlan, PlannedAppend } from '../../core/objects/append-store.ts'
import { parseMembers, storeError } from '../store-error.ts'

/** What the adapter keeps about an upload, which the ledger records. Files have numbers (`temporary-files.ts`). */
export interface FileState {
  /** The file that holds the content. */
  readonly file: number
  /**
   * An append that was not released may still write to `file`, so an append copies it to this one. Never decreases
   * while it is set: an append that failed or was fenced may have left the copy.
   */
  readonly copyTo?: number | undefined
  /** Older files may be left, which are no longer needed. */
  readonly hasOlder?: true | undefined
}

export function formatFileState(state: FileState): string {
  return JSON.stringify(state)
}

export function parseFileState(storeState: string): FileState {
  const { copyTo, hasOlder, file = 0 } = parseMembers(storeState)
  if (!isNumber(file)) throw storeError(new TypeError('The state of an upload names no file'))
  return {
    file,
    copyTo: isNumber(copyTo) ? copyTo : undefined,
    hasOlder: hasOlder === true ? true : undefined,
  }
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** Implements the port's `planAppend`. Once an append has to copy, the next ones do until one has succeeded. */
export function planAppend({ storeState, offset, isTakeover }: AppendToPlan): PlannedAppend {
  const state = parseFileState(storeState)
  const { file, copyTo } = state
  if (!isTakeover && copyTo === undefined)
    return { storeState, ifUnused: storeState, extraBytes: 0 }
  const planned = formatFileState({ ...state, copyTo: Math.max(file, copyTo ?? 0) + 1 })
  return { storeState: planned, ifUnused: planned, extraBytes: offset }
}

/** Implements the port's `isFenceable`: a fenced copy would have to be made again. */
export function isFenceable(storeState: string): boolean {
  return parseFileState(storeState).copyTo === undefined
}
