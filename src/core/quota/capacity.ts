import { AppError } from '../errors.ts'
import type { Usage } from '../ledger/ledger.ts'

/** `nearing` from 90 % used, `critical` from 99 %, `exceeded` above 100 % (after a grant ended; nothing is deleted). */
export type CapacityState = (typeof CAPACITY_STATES)[number]

export const CAPACITY_STATES = ['normal', 'nearing', 'critical', 'exceeded'] as const

export function availableBytes({ capacity, used, reserved }: Usage): number {
  return Math.max(0, capacity - used - reserved)
}

/** Ignores reservations. */
export function capacityState({ capacity, used }: Usage): CapacityState {
  if (used > capacity) return 'exceeded'
  if (capacity - used <= capacity / 100) return 'critical'
  if (capacity - used <= capacity / 10) return 'nearing'
  return 'normal'
}

/** The figures under their names in answers and on the command line. */
export function capacityFigures(usage: Usage) {
  const { capacity, used, reserved, fileCount } = usage
  const available = availableBytes(usage)
  return { capacity, used, reserved, available, file_count: fileCount, state: capacityState(usage) }
}

/** The refusal of `requested` further bytes (docs/api.md). */
export function capacityExceeded(usage: Usage, requested: number): AppError {
  const { capacity, used, reserved } = usage
  const available = availableBytes(usage)
  return new AppError('capacity_exceeded', 'The file does not fit into the repository.', {
    facts: { capacity, used, reserved, requested, available },
  })
}

/** A guess: nobody knows when an upload in progress ends. */
const RETRY_AFTER_SECONDS = 5

export function uploadCountExceeded(maxUploads: number): AppError {
  return new AppError(
    'too_many_requests',
    `As many uploads of this user as may be, ${maxUploads}, are under way.`,
    {
      facts: { retry_after: RETRY_AFTER_SECONDS },
    },
  )
}

export function fileCountExceeded(usage: Usage, maxFiles: number): AppError {
  return new AppError('file_count_exceeded', 'The repository holds as many files as it may.', {
    facts: { file_count: usage.fileCount, max_files: maxFiles },
  })
}
