import { AppError } from '../../errors.ts'
import type { MemoryRequest, MemoryPool } from './fair-queue.ts'

/** How long an upload waits for room while nobody gives any back, before it is told to come back later. */
const MAX_STANDSTILL_MS = 45_000

/** How long it waits at all; a listener closes connections on which nothing has moved for a little longer. */
const MAX_WAIT_MS = 3 * MAX_STANDSTILL_MS

export interface AcquireOptions extends MemoryRequest {
  readonly signal: AbortSignal
  /** Called when it has to wait. */
  readonly onWait: () => void
}

/**
 * Resolves when the claim is granted. Rejects with `unavailable` when that takes too long, and with the signal's reason;
 * then it never is.
 */
export async function acquireMemory(pool: MemoryPool, options: AcquireOptions): Promise<void> {
  const { userId, bytes, grant, signal, onWait } = options
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let isGranted = false
  const settle = (): void => {
    isGranted = true
    grant()
    resolve()
  }
  const withdraw = pool.request({ userId, bytes, grant: settle })
  const fail = (reason: unknown): void => {
    withdraw()
    reject(reason)
  }
  const onAbort = (): void => fail(signal.reason)
  let before = pool.givenBack
  let waitedMs = 0
  const look = (): void => {
    waitedMs += MAX_STANDSTILL_MS
    const comesForward = pool.givenBack > before
    before = pool.givenBack
    if (comesForward && waitedMs < MAX_WAIT_MS) return
    fail(busy('There is no memory left for this upload.'))
  }
  const timer = setInterval(look, MAX_STANDSTILL_MS)
  signal.addEventListener('abort', onAbort)
  try {
    if (!isGranted) onWait()
    await promise
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** What an upload is told for which there is no room, or no longer. */
export function busy(detail: string): AppError {
  return new AppError('unavailable', `The service is busy. ${detail}`)
}
