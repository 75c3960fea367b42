import { AppError } from '../errors.ts'
import type { Usage } from '../ledger/ledger.ts'
import type { Caller } from '../users/caller.ts'
import { inactiveUser } from '../users/caller.ts'
import type { UserStatus } from '../users/user-store.ts'
import { capacityExceeded, fileCountExceeded, uploadCountExceeded } from './capacity.ts'

export interface QuotaRequest extends Caller {
  readonly requested: number
  /** 1 if the file name is new, otherwise 0. */
  readonly newFiles: number
  readonly maxFiles: number
  /** Not tested if omitted. */
  readonly maxUploads?: number
}

export interface QuotaState {
  readonly status: UserStatus
  readonly createdAt: number
  readonly usage: Usage
  readonly uploads: number
  /** Set if kept garbage forbids the file: time until the oldest of it may be removed. */
  readonly garbageWaitMs: number | undefined
}

/** Why the quota refuses an upload, in the order of `Ledger.begin`; `state` is `undefined` for a missing user. */
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
