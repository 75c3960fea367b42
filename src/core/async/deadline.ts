import { addAbortListener } from 'node:events'

/**
 * Calls `onLate` once `ms` milliseconds have passed since it was made or refreshed, unless it is cleared. What has arrived by
 * then comes first: after a stall of the event loop, such as that of a suspended machine, timers run before sockets and other
 * threads are read, and an answer that is there would be refused as late. So it leaves them one more turn of the loop.
 */
export class Deadline {
  readonly #timer: NodeJS.Timeout
  #lastTurn: NodeJS.Immediate | undefined

  constructor(ms: number, onLate: () => void) {
    this.#timer = setTimeout(() => {
      this.#lastTurn = setImmediate(onLate)
    }, ms)
  }

  /** Begins anew, also when it is over. */
  refresh(): void {
    clearImmediate(this.#lastTurn)
    this.#timer.refresh()
  }

  /** Guarantees that nothing is called any more. */
  clear(): void {
    clearImmediate(this.#lastTurn)
    clearTimeout(this.#timer)
  }

  /** Lets the process end while it waits. */
  unref(): this {
    this.#timer.unref()
    return this
  }
}

/** Settles as `work` does, or resolves to `undefined` after `ms` milliseconds, when the work goes on by itself. */
export async function settledWithin<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const deadline = new Deadline(ms, () => resolve(undefined))
  try {
    return await Promise.race([work, late])
  } finally {
    deadline.clear()
  }
}

/** Settles as `work` does, or rejects with the signal's reason when that aborts first, when the work goes on by itself. */
export async function settledUnlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  using _ = addAbortListener(signal, () => reject(signal.reason))
  return await Promise.race([work, promise])
}

/**
 * Settles as `call` does, or rejects after `ms` (a DOMException `TimeoutError`) or when `signal` aborts (its
 * reason), whether or not `call` heeds the signal that it is given. That signal aborts in the same two cases and
 * never after this promise has settled, so it can guard a response whose body is still to be read.
 */
export async function withDeadline<T>(
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const stop = new AbortController()
  const giveUp = (reason: unknown): void => {
    stop.abort(reason)
    reject(reason)
  }
  const deadline = new Deadline(ms, () => giveUp(timeoutError(ms)))
  using _ = addAbortListener(signal, () => giveUp(signal.reason))
  try {
    return await Promise.race([call(stop.signal), late])
  } finally {
    deadline.clear()
  }
}

/** As `AbortSignal.timeout`, with a turn for what has arrived. */
export function timeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController()
  new Deadline(ms, () => controller.abort(timeoutError(ms))).unref()
  return controller.signal
}

/** The error of a call that was given `ms` and used them up. */
export function timeoutError(ms: number): DOMException {
  return new DOMException(`No answer within ${ms} ms`, 'TimeoutError')
}
