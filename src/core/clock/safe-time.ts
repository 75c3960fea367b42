/**
 * The safe time decides what is destroyed (I17). It follows the clock back at once, and forward only as fast as time
 * really passes. What the clock is ahead of it is a lead. A lead is believed, and the safe time moved on by it, once the
 * clock has been at least that far ahead for as long as the lead itself, but at most for `MAX_HELD_MS`.
 *
 * Theorem. What was written at time `w` with a period of `p` is not due by the safe time before `w + p` by a clock that
 * never jumps, unless a lead was believed in between. Proof: at every reading the safe time is at most the clock, from
 * which the row's times come, and afterwards it gains at most the time that passes. A clock that is ahead for a shorter
 * time than it is ahead by, or than `MAX_HELD_MS`, therefore destroys nothing early; a service that was down destroys
 * late, by at most its downtime, and for at most `MAX_HELD_MS`.
 */
export interface SafeTime {
  /** Milliseconds since 1970; never after `read`. */
  readonly safe: number
  /** What the clock said: the smaller one of the database's and the process's. */
  readonly read: number
  /** What the database's clock said, from which the times of rows come. */
  readonly database: number
  /** When it was read, by `steadyTime` of the machine, since its start `boot`. */
  readonly at: number
  readonly boot: string
  /** How often the clock went back behind the safe time, by more than a second. */
  readonly stepsBack: number
  /** From the smallest to the largest, and from the one held longest to the newest. */
  readonly leads: readonly Lead[]
}

/** The clock has been at least `ms` ahead for `heldMs`. */
interface Lead {
  readonly ms: number
  readonly heldMs: number
}

export interface ClockReading {
  readonly read: number
  readonly database: number
  readonly at: number
  readonly boot: string
  /** How long ago the time before was read; `undefined` if that is unknown, as after the machine has started. */
  readonly elapsedMs: number | undefined
}

export const MAX_HELD_MS = 24 * 60 * 60_000

/** A new lead is at least so much larger than the one before, so that a slow drift is a single lead. */
const STEP_MS = 1_000

/** Those of a machine that runs for an hour a day. */
const MAX_LEADS = 32

/** The safe time after a reading. */
export function advance(before: SafeTime, reading: ClockReading): SafeTime {
  const { read, database, at, boot, elapsedMs = 0 } = reading
  const reached = before.safe + elapsedMs
  const now = { read, database, at, boot }
  if (read <= reached) {
    const stepsBack = before.stepsBack + (read < reached - STEP_MS ? 1 : 0)
    return { ...now, safe: read, stepsBack, leads: [] }
  }
  const leads = lengthen(before.leads, { lead: read - reached, elapsedMs })
  const believed = leads.findLast(({ ms, heldMs }) => heldMs >= Math.min(ms, MAX_HELD_MS))?.ms ?? 0
  const held = leads.filter(({ ms }) => ms > believed)
  return {
    ...now,
    safe: reached + believed,
    stepsBack: before.stepsBack,
    leads: held.map(({ ms, heldMs }) => ({ ms: ms - believed, heldMs })),
  }
}

function lengthen(
  leads: readonly Lead[],
  { lead, elapsedMs }: { readonly lead: number; readonly elapsedMs: number },
): readonly Lead[] {
  const held = leads.map(({ ms, heldMs }) => ({ ms, heldMs: heldMs + elapsedMs }))
  const smaller = held.filter(({ ms }) => ms < lead)
  // The clock has been this far ahead for as long as it was further ahead.
  const larger = held.find(({ ms }) => ms >= lead)
  if (larger !== undefined) return [...smaller, { ms: lead, heldMs: larger.heldMs }]
  const isNew = lead >= (smaller.at(-1)?.ms ?? 0) + STEP_MS || smaller.length === 0
  return (isNew ? [...smaller, { ms: lead, heldMs: 0 }] : smaller).slice(-MAX_LEADS)
}

/** The time of a first reading, or of one that an operator vouches for. */
export function trust({ read, database, at, boot }: ClockReading, stepsBack = 0): SafeTime {
  return { safe: read, read, database, at, boot, stepsBack, leads: [] }
}

/** The bounds of the time that has passed, which may be all that is known of it. */
export interface Passed {
  readonly leastMs: number
  readonly mostMs: number
}

/**
 * By how much a clock has moved beside the time that has passed since `before` was read: the database's or, if that has
 * not jumped, the process's where it is the smaller one.
 */
export function jumpOf(
  before: Pick<SafeTime, 'read' | 'database'>,
  { read, database }: Pick<ClockReading, 'read' | 'database'>,
  passed: Passed,
): number {
  const jump = movedBeside(database - before.database, passed)
  const own = movedBeside(read - before.read, passed)
  return Math.abs(jump) >= Math.abs(own) ? jump : own
}

function movedBeside(moved: number, passed: Passed): number {
  if (moved < passed.leastMs) return Math.round(moved - passed.leastMs)
  return moved > passed.mostMs ? Math.round(moved - passed.mostMs) : 0
}

/** What another process of this machine, or this process, has read, and when. */
interface Seen {
  readonly time: SafeTime
  /** When this process read it, by `steadyTime`. */
  readonly at: number
}

/**
 * How long ago a time was read. On the same machine, by its own `at`. Of another machine's time this process knows only
 * how far the safe time must have come since it last saw one: as far as the time that has passed.
 */
export function elapsedSince(
  time: SafeTime,
  {
    at,
    boot,
    seen,
  }: { readonly at: number; readonly boot: string; readonly seen: Seen | undefined },
): number | undefined {
  if (time.boot === boot && at >= time.at) return at - time.at
  if (seen === undefined || seen.time.stepsBack !== time.stepsBack) return undefined
  return Math.max(0, seen.time.safe + (at - seen.at) - time.safe)
}

/** `undefined` for the JSON of anything but a `SafeTime`. Throws for what is not JSON, which nothing stores. */
export function parseSafeTime(text: string): SafeTime | undefined {
  const value = JSON.parse(text) as Partial<SafeTime>
  const { safe, read, database, at, boot, stepsBack, leads } = value
  const isWhole =
    [safe, read, database, at, stepsBack].every(Number.isFinite) &&
    typeof boot === 'string' &&
    Array.isArray(leads)
  return isWhole ? (value as SafeTime) : undefined
}
