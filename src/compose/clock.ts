import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import type { DatabaseConfig } from '../config/parsers.ts'
import type { ClockLedger } from '../core/clock/clock-ledger.ts'
import {
  type ClockHooks,
  createSafeClock,
  jumpWarning,
  type SafeClock,
  type SteadyClock,
} from '../core/clock/safe-clock.ts'
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

interface ClockParts {
  readonly ledger: ClockLedger
  readonly steadyClock: SteadyClock
  readonly leaseMs: number
  readonly clockHooks: ClockHooks
}

export function openSafeClock({ kind }: DatabaseConfig, parts: ClockParts): SafeClock {
  const { ledger, steadyClock: steady, leaseMs, clockHooks: hooks } = parts
  // SQLite's clock is the process's.
  const processTime = kind === 'postgres' ? Date.now : undefined
  return createSafeClock({ ledger, processTime, steady, leaseMs, hooks })
}

type Warn = ((err: unknown, message: string) => void) | undefined

/** A jump is told once, by the instance that notices it. */
export function warningOfJumps(hooks: ClockHooks, warn: Warn): ClockHooks {
  return {
    onLead: hooks.onLead,
    onJump(ms, leadMs) {
      hooks.onJump(ms, leadMs)
      warn?.(undefined, jumpWarning(ms, leadMs))
    },
  }
}
