import { AppError } from '../core/errors.ts'

export interface UserTurnsOptions {
  /** How many of one user's changes the database has at a time. */
  readonly atOnce: number
  /** How long one waits for its turn before it fails with `unavailable`, in milliseconds. */
  readonly patienceMs: number
}

/** Does `work` when it is the user's turn; resolves and rejects as it does. */
export type UserTurns = <T>(userId: string, work: () => Promise<T>) => Promise<T>

/**
 * Lets each user have only a few changes at the database at a time, in the order in which they were asked for. All changes of
 * a user wait for one row: without this, those of one user would hold every connection while they wait for it, and those of
 * all others would queue behind them.
 */
export function createUserTurns({ atOnce, patienceMs }: UserTurnsOptions): UserTurns {
  const users = new Map<string, Turns>()

  return async (userId, work) => {
    const turns = users.get(userId) ?? { taken: 0, waiting: new Set() }
    users.set(userId, turns)
    if (turns.taken < atOnce) turns.taken += 1
    else await waitIn(turns, patienceMs)
    try {
      return await work()
    } finally {
      pass(turns)
      if (turns.taken === 0) users.delete(userId)
    }
  }
}

interface Turns {
  taken: number
  /** Each takes over a turn when it is called. */
  readonly waiting: Set<() => void>
}

/** Whoever has had a turn leaves it to the next. */
function pass(turns: Turns): void {
  const [next] = turns.waiting
  if (next === undefined) turns.taken -= 1
  else next()
}

function waitIn({ waiting }: Turns, patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting.delete(take)
      reject(tooLate(patienceMs))
    }, patienceMs)
    const take = (): void => {
      clearTimeout(timer)
      waiting.delete(take)
      resolve()
    }
    waiting.add(take)
  })
}

/** The failure of whoever waited for so long. */
export function tooLate(patienceMs: number): AppError {
  return new AppError('unavailable', 'The database does not answer.', {
    cause: new Error(`changes of this user waited ${patienceMs} ms for their turn`),
    part: 'database',
  })
}
