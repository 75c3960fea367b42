import { Deadline } from '../../core/async/deadline.ts'
import type { AppError } from '../../core/errors.ts'
import { databaseUnavailable } from '../database.ts'

export interface KeyedSemaphoreOptions {
  readonly atOnce: number
  /** Milliseconds to wait for a turn before `unavailable`. */
  readonly patienceMs: number
}

/** Runs `work` when its key has a free turn, in call order; settles as `work` does. */
export type KeyedSemaphore = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Without a limit, one user's changes would hold every connection while they wait for that user's row. */
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
  readonly waiting: Set<() => void>
}

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

export function tooLate(patienceMs: number): AppError {
  return databaseUnavailable(new Error(`waited ${patienceMs} ms for a turn`))
}
