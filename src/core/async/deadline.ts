import { addAbortListener } from 'node:events'

/**
 * Calls `onLate` after `ms` and one more event-loop iteration. After a stall (for example of a suspended machine),
 * timers run before sockets and other threads are read, so an answer that has already arrived would count as late.
 */
export class Deadline {
  readonly #timer: NodeJS.Timeout
  #lastIteration: NodeJS.Immediate | undefined

  constructor(ms: number, onLate: () => void) {
    this.#timer = setTimeout(() => {
      this.#lastIteration = setImmediate(onLate)
    }, ms)
  }

  /** Restarts the time, even after it has passed. */
  refresh(): void {
    clearImmediate(this.#lastIteration)
    this.#timer.refresh()
  }

  clear(): void {
    clearImmediate(this.#lastIteration)
    clearTimeout(this.#timer)
  }

  unref(): this {
    this.#timer.unref()
    return this
  }
}

/** Settles as `work` does, or resolves to `undefined` after `ms`; the work continues. */
export async function settledWithin<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const deadline = new Deadline(ms, () => resolve(undefined))
  try {
    return await Promise.race([work, late])
  } finally {
    deadline.clear()
  }
}

/** Settles as `work` does, or rejects with the signal's reason on abort; the work continues. */
export async function settledUnlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  using _ = addAbortListener(signal, () => reject(signal.reason))
  return await Promise.race([work, promise])
}

/**
 * Settles as `call` does, or rejects after `ms` (DOMException `TimeoutError`) or with the reason of `signal`, even if
 * `call` ignores its own signal. The signal given to `call` never aborts after the call has settled, so it can guard a
 * body that is read later.
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

/** As `AbortSignal.timeout`, with the extra iteration of `Deadline`. */
export function timeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController()
  new Deadline(ms, () => controller.abort(timeoutError(ms))).unref()
  return controller.signal
}

export function timeoutError(ms: number): DOMException {
  return new DOMException(`No answer within ${ms} ms`, 'TimeoutError')
}
