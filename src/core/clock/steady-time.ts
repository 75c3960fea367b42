import { hrtime } from 'node:process'

/**
 * Milliseconds by a clock that never jumps (CLOCK_MONOTONIC). Unlike `performance.now`, it is the same in all threads,
 * and in all processes since the machine has started. It stands still while the machine is suspended.
 */
export function steadyTime(): number {
  return Number(hrtime.bigint() / 1000n) / 1000
}
