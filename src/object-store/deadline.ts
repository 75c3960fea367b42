import { Deadline, timeoutError } from '../core/async/deadline.ts'

interface Limits {
  readonly ms: number
  readonly signal: AbortSignal
}

/**
 * Settles as `call` does, or rejects after `ms` (a DOMException `TimeoutError`) or when `signal` aborts (its
 * reason), whether or not `call` heeds the signal that it is given. That signal aborts in the same two cases and
 * never after this promise has settled, so it can guard a response whose body is still to be read.
 */
export async function withDeadline<T>(
  { ms, signal }: Limits,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const stop = new AbortController()
  const relay = () => stop.abort(signal.reason)
  const deadline = new Deadline(ms, () => stop.abort(timeoutError(ms)))
  signal.addEventListener('abort', relay)
  try {
    return await Promise.race([call(stop.signal), rejection(stop.signal)])
  } finally {
    deadline.clear()
    signal.removeEventListener('abort', relay)
  }
}

/** Rejects with the reason of `signal` when it aborts, at once when it has. */
export function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
