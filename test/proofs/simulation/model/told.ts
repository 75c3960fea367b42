import { isAppError } from '../../../../src/core/errors.ts'
import type { Operation } from '../plan/operation.ts'
import type { World } from '../world/world.ts'
import { isCommitted, type ModelUpload } from './model-upload.ts'
import { demand } from './violation.ts'

interface Told {
  readonly offset: number
  /** As far as the client knows it. */
  readonly length: number | undefined
  /** What a client was told before this one asked. */
  readonly least: number
}

/** Clients take an offset that is the length, in the answer of a HEAD or an append, for a file that stands (I12). */
export function tellReached(upload: ModelUpload, told: Told): void {
  const isWhole = told.offset === told.length
  demand(!isWhole || isCommitted(upload), 'I12', 'told the length of an unfinished upload')
  tell(upload, told)
}

/** The bytes below an offset that is told are recorded, for good (I11). */
export function tell(upload: ModelUpload, { offset, least }: Omit<Told, 'length'>): void {
  const { recorded } = upload
  demand(offset >= least, 'I11', `told the offset ${offset} after ${least}`)
  demand(offset <= recorded.length, 'I11', `told ${offset} of ${recorded.length} recorded bytes`)
  upload.told = Math.max(upload.told, offset)
}

interface Refused {
  readonly upload: ModelUpload
  readonly operation: Operation
  readonly wasPending: boolean
  readonly error: unknown
}

/** What a client is told of an upload's end must be true. */
export function assertRefusal(
  { clock, model }: Pick<World, 'clock' | 'model'>,
  refused: Refused,
): void {
  const { upload, operation, wasPending, error } = refused
  const { state, leaseUntil, userId, userCreatedAt } = upload
  if (isAppError(error, 'not_found')) {
    const isOwn = operation.userCreatedAt === userCreatedAt
    const isActive = isOwn && model.user(userId).status === 'active'
    const isPending = wasPending && state === 'pending'
    demand(!isPending || !isActive, 'I11', `an unfinished upload was not found`)
  }
  if (!isAppError(error, 'upload_gone')) return
  const { outcome } = error.facts
  const isExpired = state === 'aborted' || leaseUntil <= clock.now()
  const isTrue = outcome === 'finished' ? isCommitted(upload) : isExpired
  demand(isTrue, 'I11', `${outcome}, but it is ${state}`)
}
