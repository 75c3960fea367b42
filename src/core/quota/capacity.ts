import type { ByteUsage, Usage } from '../users/account-ledger.ts'

/** `nearing` from 90 % used, `critical` from 99 %, `exceeded` above 100 % (after a grant ended; nothing is deleted). */
export type CapacityState = (typeof CAPACITY_STATES)[number]

export const CAPACITY_STATES = ['normal', 'nearing', 'critical', 'exceeded'] as const

export function availableBytes({ capacity, used, reserved }: ByteUsage): number {
  return Math.max(0, capacity - used - reserved)
}

/** Ignores reservations. */
export function capacityState({ capacity, used }: Usage): CapacityState {
  if (used > capacity) return 'exceeded'
  if (capacity - used <= capacity / 100) return 'critical'
  if (capacity - used <= capacity / 10) return 'nearing'
  return 'normal'
}

/** Above 1 after a grant ended. Infinite without a capacity. */
export function shareUsed({ capacity, used }: Usage): number {
  return capacity > 0 ? used / capacity : Infinity
}

/** The figures under their names in answers and on the command line. */
export function capacityFigures(usage: Usage) {
  const { capacity, used, reserved, fileCount } = usage
  const available = availableBytes(usage)
  return { capacity, used, reserved, available, file_count: fileCount, state: capacityState(usage) }
}
