import type { AppendToPlan, PlannedAppend } from '../../../core/objects/append-store.ts'
import { parseMembers } from '../../store-error.ts'
import type { OpenMultipart } from '../multipart-upload.ts'

/** What the adapter keeps about an upload, which the ledger records. */
export interface ObjectState {
  /** Set once the store has created it. */
  readonly multipart?: OpenMultipart | undefined
  /**
   * `intended`: an append may write the whole content as the object, by one request. `stored`: it has. Otherwise
   * nothing may write the object directly, because a late request would replace its bytes.
   */
  readonly whole?: 'intended' | 'stored' | undefined
  /** A discarded append may have created an upload whose id was not recorded. `finish` aborts it. */
  readonly mayHaveStray?: true | undefined
}

export function formatObjectState({ multipart, ...state }: ObjectState): string {
  return JSON.stringify({ ...multipart, ...state })
}

export function parseObjectState(storeState: string): ObjectState {
  const { uploadId, hasChecksums, whole, mayHaveStray } = parseMembers(storeState)
  const isKnown = typeof uploadId === 'string'
  return {
    multipart: isKnown ? { uploadId, hasChecksums: hasChecksums === true } : undefined,
    whole: whole === 'intended' || whole === 'stored' ? whole : undefined,
    mayHaveStray: mayHaveStray === true ? true : undefined,
  }
}

/** Implements the port's `planAppend`. */
export function planAppend(append: AppendToPlan): PlannedAppend | undefined {
  const { storeState: ifUnused, length } = append
  const state = parseObjectState(ifUnused)
  // An empty object can be written again: its bytes are the same.
  if (state.whole === 'intended' && length !== 0) return undefined
  return { storeState: formatObjectState(plannedState(append, state)), ifUnused, extraBytes: 0 }
}

function plannedState(append: AppendToPlan, state: ObjectState): ObjectState {
  const { partSize, offset, length, bodySize = length, isDiscardable = false } = append
  if (state.whole === 'stored') return state
  // Parts that were discarded cannot become an empty object.
  if (length === 0 && state.multipart !== undefined)
    return { whole: 'intended', mayHaveStray: true }
  if (state.multipart !== undefined) return state
  const isWhole = offset === 0 && length !== undefined && length <= partSize && bodySize === length
  if (isWhole && (!isDiscardable || length === 0)) return { ...state, whole: 'intended' }
  return isDiscardable || length === undefined ? { ...state, mayHaveStray: true } : state
}

/** Implements the port's `isFenceable`. */
export function isFenceable(storeState: string): boolean {
  return parseObjectState(storeState).whole !== 'intended'
}

interface Receipt {
  readonly etag: string
  readonly crc32: string | undefined
}

export function formatReceipt({ etag, crc32 }: Receipt): string {
  return crc32 === undefined ? etag : `${etag} ${crc32}`
}

/** An ETag contains no space (RFC 9110 section 8.8.3). */
export function parseReceipt({ receipt }: { readonly receipt: string }): Receipt {
  const [etag = '', crc32] = receipt.split(' ')
  return { etag, crc32 }
}
