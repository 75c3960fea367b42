import type { FileName } from '../../../../src/core/files/file-name.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { ResumableState } from './ledger-state.ts'
import type { Content, Operation } from '../plan/operation.ts'
import type { UploadAction } from '../plan/plan.ts'

/** A resumable upload as it should be. What the ledger states of it is copied after each call. */
export interface ModelUpload {
  readonly version: Version
  readonly userId: UserId
  readonly userCreatedAt: number
  readonly fileName: FileName
  readonly demands: UploadAction['demands']
  readonly evict: string | undefined
  readonly expiresInMs: number | undefined
  readonly metadataBytes: number | undefined
  readonly credential: string | undefined
  readonly deviceId: string | undefined
  /** What its client wants to store. */
  readonly content: Content
  readonly isDeferred: boolean
  /** The bytes below the recorded offset, as they were sent. */
  recorded: Buffer
  /** The greatest offset that a client was told. */
  told: number
  /** As far as the service knows it. */
  length: number | undefined
  state: ResumableState
  leaseUntil: number
  /** Whether two contents were sent for it: a part can then hold other bytes than recorded, and the store says so. */
  isMixed: boolean
  /** Keys of all tail objects that it has had. */
  readonly tailKeys: Set<string>
  /** The operation that has sent the whole content as the object. */
  putBy: number | undefined
  /** Who has claimed it, by epoch. */
  readonly claims: Map<number, Operation>
}

export function isCommitted({ state }: ModelUpload): boolean {
  return state === 'committed'
}
