import { Deadline } from '../../core/async/deadline.ts'
import type { AppError } from '../../core/errors.ts'
import { databaseUnavailable } from '../repeats.ts'

export interface KeyedSemaphoreOptions {
  readonly atOnce: number
  /** Milliseconds to wait for a turn before `unavailable`. */
  readonly queueTimeoutMs: number
}

/** Runs `work` when its key has a free turn, in call order; settles as `work` does. `timeoutMs` replaces the limit. */
export type KeyedSemaphore = <T>(
  key: string,
  work: () => Promise<T>,
  timeoutMs?: number,
) => Promise<T>

/** Without a limit, one user's changes would hold every connection while they wait for that user's row. */
export function createKeyedSemaphore({
  atOnce,
  queueTimeoutMs,
}: KeyedSemaphoreOptions): KeyedSemaphore {
  const lines = new Map<string, Line>()

  return async (key, work, timeoutMs = queueTimeoutMs) => {
    const line = lines.get(key) ?? { taken: 0, waiting: new Set() }
    lines.set(key, line)
    if (line.taken < atOnce) line.taken += 1
    else await waitIn(line, timeoutMs)
    try {
      return await work()
    } finally {
      pass(line)
      if (line.taken === 0) lines.delete(key)
    }
  }
}

interface Line {
  taken: number
  readonly waiting: Set<() => void>
}

function pass(line: Line): void {
  const [next] = line.waiting
  if (next === undefined) line.taken -= 1
  else next()
}

function waitIn({ waiting }: Line, queueTimeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = new Deadline(queueTimeoutMs, () => {
      waiting.delete(take)
      reject(tooLate(queueTimeoutMs))
    })
    const take = (): void => {
      deadline.clear()
      waiting.delete(take)
      resolve()
    }
    waiting.add(take)
  })
}

export function tooLate(queueTimeoutMs: number): AppError {
  return databaseUnavailable(new Error(`waited ${queueTimeoutMs} ms for a turn`))
}
