import { PARK_AFTER_MS } from '../webhooks/webhook.ts'
import type { ClockLedger } from './clock-ledger.ts'
import {
  advance,
  type ClockReading,
  elapsedSince,
  jumpOf,
  parseSafeTime,
  type SafeTime,
  trust,
} from './safe-time.ts'

export type SafeClock = ReturnType<typeof createSafeClock>

export interface SafeClockOptions {
  readonly ledger: ClockLedger
  /** The process's clock, if it is another one than the database's. The smaller one counts. */
  readonly processTime?: (() => number) | undefined
  readonly steady: SteadyClock
  /** The longest lease of an upload with a single request. */
  readonly leaseMs: number
  readonly hooks?: Partial<ClockHooks> | undefined
}

/** A clock that does not jump. */
export interface SteadyClock {
  /** Names the time from which `now` counts. */
  readonly boot: string
  readonly now: () => number
}

export interface ClockHooks {
  /** Called at each reading with how much the clock is ahead of the safe time. */
  readonly onLead: (ms: number) => void
  /** Called once for each jump, in the instance that notices it; negative if the clock went back. */
  readonly onJump: (ms: number, leadMs: number) => void
}

/** By how much the clock was ahead of the safe time when that was stored, in milliseconds. */
export function heldLead(stored: string | undefined): number {
  const time = stored === undefined ? undefined : parseSafeTime(stored)
  return time === undefined ? 0 : Math.round(time.database - time.safe)
}

export function jumpWarning(ms: number, leadMs: number): string {
  const jump = `the clock jumped ${ms > 0 ? 'ahead' : 'back'} by ${seconds(ms)} s`
  if (leadMs < JUMP_MS) return jump
  return `${jump}; nothing is destroyed that has ended only in the last ${seconds(leadMs)} s, until the clock has proved right`
}

function seconds(ms: number): number {
  return Math.round(Math.abs(ms) / 1000)
}

/** Smaller ones are corrections. */
const JUMP_MS = 5_000

/** Garbage that is due so much later was written by a clock that was ahead between two readings. */
const UNSEEN_MS = 30 * 24 * 60 * 60_000

/** Webhooks that failed may wait longer but, after a jump, to try again early does no harm. */
const SOON_MS = 60_000

interface Known {
  readonly stored: string | undefined
  readonly firstAt: number
  readonly otherAt: number
  readonly lastAt: number
}

export function createSafeClock(options: SafeClockOptions) {
  const { ledger, processTime = () => Infinity, steady, leaseMs, hooks } = options
  let seen: { readonly time: SafeTime; readonly at: number } | undefined
  /** What was stored, when this process first read that, and when it had last read another one. */
  let known: Known = {
    stored: undefined,
    firstAt: -Infinity,
    otherAt: -Infinity,
    lastAt: -Infinity,
  }
  let jumpedAt = -Infinity
  let isFirst = true

  interface Read {
    readonly stored: string | undefined
    readonly before: SafeTime | undefined
    readonly reading: ClockReading
    readonly jumpMs: number
  }

  async function readClocks(): Promise<Read> {
    const { now, stored } = await ledger.readClock()
    const { boot } = steady
    const at = steady.now()
    note(stored, at)
    const before = stored === undefined ? undefined : parseSafeTime(stored)
    const elapsedMs = before && elapsedSince(before, { at, boot, seen })
    const reading = { read: Math.min(now, processTime()), database: now, at, boot, elapsedMs }
    const jumpMs = before === undefined ? 0 : jumpOf(before, reading, passedSince(before, at))
    if (jumpMs > JUMP_MS) jumpedAt = at
    return { stored, before, reading, jumpMs }
  }

  function note(stored: string | undefined, at: number): void {
    const { firstAt, otherAt, lastAt } = known
    known =
      stored === known.stored
        ? { stored, firstAt, otherAt, lastAt: at }
        : { stored, firstAt: at, otherAt: lastAt, lastAt: at }
  }

  /** Another machine has stored its reading after this process last read another one. */
  function passedSince(time: SafeTime, at: number) {
    const isKnown = time.boot === steady.boot && at >= time.at
    if (isKnown) return { leastMs: at - time.at, mostMs: at - time.at }
    return { leastMs: at - known.firstAt, mostMs: at - known.otherAt }
  }

  /** Keeps what says most of how far the safe time has come. */
  function see(time: SafeTime): void {
    const at = steady.now()
    const reached =
      seen?.time.stepsBack === time.stepsBack ? seen.time.safe + (at - seen.at) : -Infinity
    if (reached < time.safe) seen = { time, at }
  }

  function tellLead(time: SafeTime): void {
    hooks?.onLead?.(Math.max(0, Math.round(time.database - time.safe)))
  }

  async function store(before: string | undefined, time: SafeTime): Promise<boolean> {
    const safe = Math.floor(time.safe)
    return await ledger.storeClock({ before, after: JSON.stringify(time), safe })
  }

  return {
    /**
     * Reads the clocks, and stores the first safe time. Resolves to whether the clocks have just jumped ahead: then
     * leases have ended that are about to be renewed.
     */
    async read(): Promise<boolean> {
      const { stored, before, reading } = await readClocks()
      if (before === undefined) {
        await store(stored, trust(reading))
        return false
      }
      see(before)
      tellLead(advance(before, reading))
      return steady.now() - jumpedAt < leaseMs
    },

    /**
     * As `read`, and stores the safe time for all statements that destroy. One instance at a time calls it. If
     * `isTrusted`, an operator vouches for the clock. If the database cannot store the time, it rejects.
     */
    async advance({
      isTrusted = false,
    }: { readonly isTrusted?: boolean | undefined } = {}): Promise<void> {
      const { stored, before, reading, jumpMs } = await readClocks()
      const isTaken = before === undefined || isTrusted
      const time = isTaken ? trust(reading, (before?.stepsBack ?? 0) + 1) : advance(before, reading)
      const isBack = jumpMs < -JUMP_MS
      const longest = {
        // The setting may have been longer before this process started.
        unseenMs: isBack ? 0 : UNSEEN_MS,
        retryMs: isBack ? SOON_MS : PARK_AFTER_MS,
      }
      see(time)
      tellLead(time)
      if (isFirst || isBack) await ledger.pullBack(longest)
      const isStored = await store(stored, time)
      isFirst = false
      // Another instance has just stored one, and has noticed the jump.
      if (!isStored) return
      if (Math.abs(jumpMs) > JUMP_MS) hooks?.onJump?.(jumpMs, Math.round(time.database - time.safe))
    },

    /** The safe time as far as this process knows, also if it could not be stored; `undefined` before `advance`. */
    safe: () => seen && seen.time.safe + (steady.now() - seen.at),
  }
}
