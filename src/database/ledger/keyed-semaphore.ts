import { Deadline } from '../../core/async/deadline.ts'
import type { AppError } from '../../core/errors.ts'
import { databaseUnavailable } from '../database.ts'

export interface KeyedSemaphoreOptions {
  /** How many works of one key are done at a time. */
  readonly atOnce: number
  /** How long one waits for its turn before it fails with `unavailable`, in milliseconds. */
  readonly patienceMs: number
}

/** Does `work` when it is its turn among those of its key, such as a user; resolves and rejects as it does. */
export type KeyedSemaphore = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * Lets the database have only a few works of each key at a time, in the order in which they were asked for. All changes of a
 * user wait for one row: without this, those of one user would hold every connection while they wait for it, and those of
 * all others would queue behind them.
 */
export function createKeyedSemaphore({
  atOnce,
  patienceMs,
}: KeyedSemaphoreOptions): KeyedSemaphore {
  const lines = new Map<string, Line>()

  return async (key, work) => {
    const line = lines.get(key) ?? { taken: 0, waiting: new Set() }
    lines.set(key, line)
    if (line.taken < atOnce) line.taken += 1
    else await waitIn(line, patienceMs)
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
  /** Each takes over a turn when it is called. */
  readonly waiting: Set<() => void>
}

/** Whoever has had a turn leaves it to the next. */
function pass(line: Line): void {
  const [next] = line.waiting
  if (next === undefined) line.taken -= 1
  else next()
}

function waitIn({ waiting }: Line, patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = new Deadline(patienceMs, () => {
      waiting.delete(take)
      reject(tooLate(patienceMs))
    })
    const take = (): void => {
      deadline.clear()
      waiting.delete(take)
      resolve()
    }
    waiting.add(take)
  })
}

/** The failure of whoever waited for so long. */
export function tooLate(patienceMs: number): AppError {
  return databaseUnavailable(new Error(`waited ${patienceMs} ms for a turn`))
}
