import type { FastifyReply } from 'fastify'
import { FairSemaphore, type Permit } from '../../core/async/fair-semaphore.ts'
import { onAbort } from '../../core/async/on-abort.ts'
import { busy } from '../../core/errors.ts'
import { HeldCounts } from '../../core/quota/held-counts.ts'
import { tooManyOf } from '../../core/quota/shares.ts'
import { ownerOf } from '../server/reader-slots.ts'
import { requestSignal } from '../server/request-outcome.ts'
import type { LoopShares } from './loop-shares.ts'

/**
 * Reads a listing in turn: users, and addresses without a token, take turns, because a page of 1,000 files takes the
 * event loop 7 ms. Rejects with `too_many_requests` if too many listings of the same owner wait already, and with
 * `unavailable` after too long a wait.
 */
export type ReadInTurn = <T>(
  reply: FastifyReply,
  read: () => Promise<T>,
  /** Set by a request that reads often: its `requestSignal`. */
  gone?: AbortSignal,
) => Promise<T>

export function createListingTurns(options: {
  readonly shares: Pick<LoopShares, 'pauseOf' | 'wait' | 'measure'>
  /** Listings that are read at the same time. */
  readonly atOnce: number
  /** Milliseconds to wait for a turn; 10 s by default. */
  readonly waitMs?: number
}): ReadInTurn {
  const { shares, atOnce, waitMs = WAIT_MS } = options
  const turns = new FairSemaphore({ permits: atOnce })

  /** An owner who has to pause keeps no turn from others. */
  async function take(owner: string, signal: AbortSignal): Promise<Permit> {
    for (;;) {
      const permit = await turns.acquire({ owner, signal })
      if (shares.pauseOf(owner) === 0) return permit
      permit.release()
      await shares.wait(owner, signal)
    }
  }

  const waiting = new HeldCounts(MAX_WAITING)
  return async (reply, read, gone = requestSignal(reply)) => {
    const reader = ownerOf(reply.request)
    const reached = waiting.reached(reader)
    if (reached !== undefined) throw tooManyOf(reached, COUNTED, TOLD)
    const leave = new AbortController()
    using _ = onAbort(gone, () => leave.abort(gone.reason))
    const late = setTimeout(() => leave.abort(busy(LATE)), waitMs)
    waiting.add(reader, 1)
    const permit = await take(reader.owner, leave.signal).finally(() => {
      waiting.add(reader, -1)
      clearTimeout(late)
    })
    const charge = shares.measure(reader.owner)
    try {
      return await read()
    } finally {
      // The first iteration serializes the page.
      setImmediate(charge)
      afterIterations(ITERATIONS_BETWEEN, () => permit.release())
    }
  }
}

/**
 * Iterations of the event loop between two listings. The first one serializes the page. In each, Node accepts one new
 * connection of a listener: with a listing in every one, those of others would wait behind as many connections as a
 * client opens.
 */
export const ITERATIONS_BETWEEN = 32

function afterIterations(count: number, run: () => void): void {
  setImmediate(() => (count > 1 ? afterIterations(count - 1, run) : run()))
}

/** On PostgreSQL a listing mostly waits for the network, with one of ten connections. */
export const LISTINGS_AT_ONCE = { sqlite: 2, postgres: 6 }

const WAIT_MS = 10_000
const LATE = 'Other listings take too long.'

/** Listings of an owner. They are read within a second. */
export const MAX_WAITING = 256
const COUNTED = 'listings that wait for their turn'
const TOLD = { waitMs: 1_000, whose: 'user or address' }
