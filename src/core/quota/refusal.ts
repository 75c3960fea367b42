import { AppError, tooManyRequests } from '../errors.ts'
import type { ByteUsage, Usage } from '../users/account-ledger.ts'
import type { Unfinished } from '../resumable/resumable-ledger.ts'
import { type Caller, inactiveUser } from '../users/caller.ts'
import type { UserStatus } from '../users/user-store.ts'
import { availableBytes } from './capacity.ts'
import { type AccountLimits, limitFor, type Reached, reachedBound, tooManyOf } from './shares.ts'

// What a refusal says. The statements that refuse have their conditions from `database/ledger/quota-rule.ts`.

/** Whose upload, or other change, the quota refuses. */
export interface RefusedCaller extends Caller {
  /** The narrow credential that begins the upload, or has begun it. */
  readonly credential?: string | undefined
}

export interface QuotaState {
  readonly status: UserStatus
  readonly createdAt: number
  readonly usage: Usage
  readonly uploads: number
  /** Of the narrow credential, running and unfinished ones. */
  readonly own: { readonly uploads: number; readonly unfinished: number } | undefined
  /** Set if the user's garbage leaves no room for the file: time until the oldest garbage may be removed. */
  readonly garbageWaitMs: number | undefined
  /**
   * The growth of a resumable upload fits, so only the announced bytes of unfinished uploads can exceed the capacity.
   */
  readonly hasRoom: boolean
  /** The user's other unfinished uploads. */
  readonly unfinished: Unfinished
  /** What the upload could evict; `undefined` if it may not. */
  readonly evictable: { readonly bytes: number; readonly files: number } | undefined
  /** Of the device, if its share is too small. Precedes the capacity of the account. */
  readonly share: ShareState | undefined
}

/** What the share of a device leaves, in bytes. */
export interface ShareState extends ByteUsage {
  readonly deviceId: string
  /** Of the device's files, what the upload could evict; `undefined` if it may not. */
  readonly evictable: number | undefined
}

export interface Refused {
  readonly caller: RefusedCaller
  readonly limits: AccountLimits
  /** The limit of uploads that applies besides the others. */
  readonly counted: 'maxUploads' | 'maxUnfinished' | undefined
  /** In bytes. */
  readonly requested: number
  /** How many files more there would be. */
  readonly newFiles: number
  /** `undefined` for a missing user. */
  readonly state: QuotaState | undefined
}

/** The facts of these refusals that only a token with `read` may learn, but for those of its device's share. */
export const ACCOUNT_FIGURES: ReadonlySet<string> = new Set([
  'device_id',
  'capacity',
  'used',
  'reserved',
  'available',
  'evictable',
  'file_count',
  'unfinished_count',
  'unfinished_bytes',
])

/** Why the quota refuses an upload, in the order of `UploadLedger.begin` and `createResumable`. */
export function refusalOf({
  caller,
  limits,
  counted,
  requested,
  newFiles,
  state,
}: Refused): AppError {
  if (state?.createdAt !== caller.userCreatedAt) return inactiveUser(undefined)
  if (state.status !== 'active') return inactiveUser(state.status)
  const { usage, uploads, own, garbageWaitMs, unfinished } = state
  const maxUploads = counted === 'maxUploads' ? limits.maxUploads : undefined
  const maxUnfinished = counted === 'maxUnfinished' ? limits.maxUnfinished : undefined
  const maxFiles = limitFor(limits.maxFiles, caller.credential)
  const running =
    maxUploads !== undefined && reachedBound(maxUploads, { all: uploads, own: own?.uploads })
  if (running) return uploadCountExceeded(running)
  const left =
    maxUnfinished !== undefined &&
    reachedBound(maxUnfinished, { all: unfinished.count, own: own?.unfinished })
  if (left) return unfinishedExceeded(unfinished, left.bound)
  if (garbageWaitMs !== undefined) return garbageExceeded(garbageWaitMs)
  const files = usage.fileCount - (state.evictable?.files ?? 0)
  if (newFiles > 0 && files + newFiles > maxFiles) return fileCountExceeded(usage, maxFiles)
  if (state.share) return shareExceeded(state.share, requested)
  if (state.hasRoom) return unfinishedExceeded(unfinished, maxUnfinished)
  return capacityExceeded(usage, requested, state.evictable?.bytes)
}

function unfinishedExceeded({ count, bytes }: Unfinished, max: number | undefined): AppError {
  return new AppError(
    'unfinished_uploads_exceeded',
    'The unfinished uploads of this user exceed their limit. Finish or cancel some of them.',
    {
      facts: {
        unfinished_count: count,
        unfinished_bytes: bytes,
        ...(max !== undefined && { max_unfinished_uploads: max }),
      },
    },
  )
}

function garbageExceeded(waitMs: number): AppError {
  return tooManyRequests(
    'Too many replaced and deleted files of this user are still awaiting removal. Try again later.',
    waitMs,
  )
}

/** Uploads end at any time. */
const UPLOAD_WAIT_MS = 5_000

export function uploadCountExceeded(reached: Reached): AppError {
  return tooManyOf(reached, 'uploads in progress', { waitMs: UPLOAD_WAIT_MS })
}

export function fileCountExceeded(usage: Usage, maxFiles: number): AppError {
  return new AppError(
    'file_count_exceeded',
    'The repository already contains the maximum number of files.',
    {
      facts: { file_count: usage.fileCount, max_files: maxFiles },
    },
  )
}

export function capacityExceeded(
  usage: ByteUsage,
  requested: number,
  evictable?: number,
): AppError {
  const facts = { limit: 'account', ...figuresOf(usage, requested, evictable) }
  const detail = 'The file does not fit into the available capacity.'
  return new AppError('capacity_exceeded', detail, { facts })
}

function shareExceeded({ deviceId, evictable, ...bytes }: ShareState, requested: number): AppError {
  const facts = { limit: 'device', device_id: deviceId, ...figuresOf(bytes, requested, evictable) }
  const detail = "The file does not fit into the device's share of the capacity."
  return new AppError('capacity_exceeded', detail, { facts })
}

function figuresOf(usage: ByteUsage, requested: number, evictable: number | undefined) {
  const { capacity, used, reserved } = usage
  const figures = { capacity, used, reserved, requested, available: availableBytes(usage) }
  return evictable === undefined ? figures : { ...figures, evictable }
}
