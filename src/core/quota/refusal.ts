import { AppError } from '../errors.ts'
import type { Usage } from '../ledger/ledger.ts'
import type { Caller } from '../users/caller.ts'
import { inactiveUser } from '../users/caller.ts'
import type { UserStatus } from '../users/user-store.ts'
import { capacityExceeded, fileCountExceeded, uploadCountExceeded } from './capacity.ts'

/** What an upload asks of its user's quota. */
export interface QuotaRequest extends Caller {
  /** Bytes of the file. */
  readonly requested: number
  /** 1 when the file's name is new, else 0. */
  readonly newFiles: number
  readonly maxFiles: number
  /** Uploads that may be in progress; not tested where it is left out. */
  readonly maxUploads?: number
}

/** What there is of a user at one moment. */
export interface QuotaState {
  readonly status: UserStatus
  readonly createdAt: number
  readonly usage: Usage
  /** Uploads in progress. */
  readonly uploads: number
  /** Where kept garbage forbids the file: milliseconds until the oldest of it may be removed. */
  readonly garbageWaitMs: number | undefined
}

/**
 * Why an upload that the quota did not accept is refused, in the order in which reasons are told (`Ledger.begin`).
 * `state` is `undefined` for an unknown or deleted user.
 */
export function refusalOf(request: QuotaRequest, state: QuotaState | undefined): AppError {
  if (state?.createdAt !== request.userCreatedAt) return inactiveUser(undefined)
  if (state.status !== 'active') return inactiveUser(state.status)
  const { usage, uploads, garbageWaitMs } = state
  const { requested, newFiles, maxFiles, maxUploads } = request
  if (maxUploads !== undefined && uploads >= maxUploads) return uploadCountExceeded(maxUploads)
  if (garbageWaitMs !== undefined) return garbageExceeded(garbageWaitMs)
  if (newFiles > 0 && usage.fileCount >= maxFiles) return fileCountExceeded(usage, maxFiles)
  return capacityExceeded(usage, requested)
}

function garbageExceeded(waitMs: number): AppError {
  return new AppError(
    'too_many_requests',
    'Too much of what this user has replaced and deleted is still kept. It is removed by and by.',
    { facts: { retry_after: Math.max(1, Math.ceil(waitMs / 1000)) } },
  )
}
