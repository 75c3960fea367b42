import type { UploadMemory } from '../core/memory/upload-memory.ts'
import type { Instruments } from './instruments.ts'

export interface ConnectionCounts {
  readonly limit: number
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

export interface Saturable {
  readonly memory: UploadMemory
  /** `undefined` if the database has no pool. */
  readonly connections: (() => ConnectionCounts) | undefined
}

/** Sets the gauges of upload memory and database connections to their current values. */
export function readSaturation(
  { memory: gauges, pool }: Instruments,
  { memory, connections }: Saturable,
): void {
  const { budget, taken, waiting } = memory.usage()
  gauges.budget.set(budget)
  gauges.taken.set(taken)
  gauges.waiting.set(waiting)
  if (connections === undefined) return
  const counts = connections()
  pool?.limit.set(counts.limit)
  pool?.waiting.set(counts.waiting)
  pool?.open.set(counts.open)
  pool?.used.set(counts.open - counts.idle)
}
