import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import type { SteadyClock } from '../core/clock/safe-clock.ts'
import { steadyTime } from '../core/clock/steady-time.ts'

/**
 * The machine's monotonic clock. Its origin is named by the boot and the time namespace, so that a process that starts
 * knows how long ago one before it has read the clock. Where there are no such names, only the process itself knows.
 */
export function openSteadyClock(): SteadyClock {
  return { boot: readOrigin() ?? randomUUID(), now: steadyTime }
}

function readOrigin(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/time')}`
  } catch {
    return undefined
  }
}
