import { setTimeout } from 'node:timers/promises'
import { AppError } from '../core/errors.ts'

/**
 * `locked`: another connection has the lock, on the database or a row. `defect`: a bug of ours. `full`: disk full, write
 * rolled back.
 */
export type Fault = 'repeat' | 'locked' | 'defect' | 'failure' | 'full'

export const MAX_REPEATS = 5

/** Equals the wait for a turn, so a backup or an operator's transaction of a few seconds refuses no change. */
export const LOCK_TIMEOUT_MS = 10_000

/** Runs `work` when there is room. Rejects with `unavailable` after `timeoutMs` without room. */
export type Lane = <T>(work: () => Promise<T>, timeoutMs: number) => Promise<T>

export interface Repeats {
  readonly classify: (error: unknown) => Fault
  readonly lockTimeoutMs?: number | undefined
  /** For the first attempt. */
  readonly lane?: Lane | undefined
  /** For attempts after `locked`. */
  readonly lockedLane?: Lane | undefined
}

/** Repeats `attempt` at most `MAX_REPEATS` times, or for `lockTimeoutMs` while locked. Translates its errors. */
export async function withRepeats<T>(
  attempt: () => Promise<T>,
  { classify, lockTimeoutMs = LOCK_TIMEOUT_MS, lane, lockedLane }: Repeats,
): Promise<T> {
  const givesUpAt = performance.now() + lockTimeoutMs
  let current = lane
  for (let repeats = 0; ; repeats++) {
    try {
      if (current === undefined) return await attempt()
      return await current(attempt, givesUpAt - performance.now())
    } catch (error) {
      const fault = error instanceof AppError ? 'defect' : classify(error)
      if (fault === 'defect') throw error
      if (fault === 'full') throw databaseFull(error)
      const isOver = fault === 'locked' ? performance.now() >= givesUpAt : repeats >= MAX_REPEATS
      if (fault === 'failure' || isOver) throw databaseUnavailable(error)
      if (fault === 'locked') current = lockedLane
      await setTimeout(backoffMs(repeats, fault === 'locked' ? MAX_LOCKED_BACKOFF_MS : Infinity))
    }
  }
}

/** The outcome of the failed call is unknown: the database may have applied it. */
export function databaseUnavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The database failed or did not respond in time.', {
    cause,
    dependency: 'database',
  })
}

export function tooLate(queueTimeoutMs: number): AppError {
  return databaseUnavailable(new Error(`waited ${queueTimeoutMs} ms for a turn`))
}

function databaseFull(cause: unknown): AppError {
  const detail = 'The disk of the database is full.'
  return new AppError('unavailable', detail, { cause, dependency: 'database', isFull: true })
}

const FIRST_BACKOFF_MS = 25

/** Trying a held lock costs microseconds, and the lock may be free only briefly. */
const MAX_LOCKED_BACKOFF_MS = 100

// Random, so that colliding transactions do not collide again.
function backoffMs(repeats: number, maxMs: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** repeats, maxMs) * (0.5 + Math.random() / 2)
}
