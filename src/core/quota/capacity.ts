import type { Usage } from '../ledger/ledger.ts'

/**
 * How full a repository is: `nearing` from 90 % of its capacity, `critical` from 99 %, `exceeded` above it
 * (which a grant that ended can bring about; nothing is deleted then).
 */
export type CapacityState = (typeof CAPACITY_STATES)[number]

export const CAPACITY_STATES = ['normal', 'nearing', 'critical', 'exceeded'] as const

/** Bytes that can still be reserved: max(0, capacity - used - reserved). */
export function availableBytes({ capacity, used, reserved }: Usage): number {
  return Math.max(0, capacity - used - reserved)
}

/** The state of a repository by what is used, not by what is reserved. */
export function capacityState({ capacity, used }: Usage): CapacityState {
  if (used > capacity) return 'exceeded'
  if (capacity - used <= capacity / 100) return 'critical'
  if (capacity - used <= capacity / 10) return 'nearing'
  return 'normal'
}

/** The figures of a repository at one moment, as answers and the command line name them. */
export function capacityFigures(usage: Usage) {
  const { capacity, used, reserved, fileCount } = usage
  const available = availableBytes(usage)
  return { capacity, used, reserved, available, file_count: fileCount, state: capacityState(usage) }
}
