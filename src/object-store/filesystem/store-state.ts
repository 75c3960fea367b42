import { parseMembers } from '../parse-members.ts'
import { storeError } from '../store-error.ts'
import { isSuffix, TEMPORARY } from './temporary-files.ts'

/** What the adapter keeps about an upload, which the ledger records. */
export interface StoreState {
  /** The content is in the file at the object's path plus this suffix. */
  readonly suffix: string
  /** An append that was not released may still write to that file, so the next append copies it first. */
  readonly isShared?: boolean
  /** Suffix of the file before a takeover, which is no longer needed. */
  readonly replaced?: string
}

export function formatStoreState(state: StoreState): string {
  return JSON.stringify(state)
}

export function parseStoreState(storeState: string): StoreState {
  const { suffix = TEMPORARY, isShared, replaced } = parseMembers(storeState)
  if (!isSuffix(suffix)) throw storeError(new TypeError('The state of an upload names no file'))
  return {
    suffix,
    ...(isShared === true && { isShared }),
    ...(isSuffix(replaced) && { replaced }),
  }
}
