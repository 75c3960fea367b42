export interface MinRateOptions {
  /** How long no byte may pass, in milliseconds; also the time over which the rate is averaged. */
  readonly idleTimeoutMs: number
  /** Bytes that have passed so far. */
  readonly total: () => number
  /** Whether it is the client's turn to send, or to take. */
  readonly isWaiting: () => boolean
  /** Called at most once. */
  readonly onTooSlow: () => void
}

export interface MinRate {
  /** Guarantees that nothing is called any more. */
  readonly stop: () => void
}

const MIN_BYTES_PER_SECOND = 1024

/**
 * Watches over content on its way from a client or to one: calls `onTooSlow` when no byte has passed for
 * `idleTimeoutMs`, or fewer than 1 KiB/s in that time. Only time in which it was the client's turn counts, so slowness
 * on our side fails nobody. A process that was suspended or busy takes it for one short moment.
 */
export function watchMinRate({
  idleTimeoutMs,
  total,
  isWaiting,
  onTooSlow,
}: MinRateOptions): MinRate {
  const minBytes = (MIN_BYTES_PER_SECOND * idleTimeoutMs) / 1000
  let seen = total()
  let idleTicks = 0
  let windowTicks = 0
  let windowBytes = 0

  // Ticks are counted instead of reading a clock: a process that did not run has not listened either.
  const timer = setInterval(tick, idleTimeoutMs / TICKS).unref()

  function tick(): void {
    const passed = total() - seen
    seen += passed
    windowBytes += passed
    if (passed > 0) idleTicks = 0
    if (!isWaiting()) return
    idleTicks += 1
    windowTicks += 1
    const windowIsOver = windowTicks >= TICKS
    if (idleTicks >= TICKS || (windowIsOver && windowBytes < minBytes)) {
      clearInterval(timer)
      onTooSlow()
    } else if (windowIsOver) {
      windowTicks = 0
      windowBytes = 0
    }
  }

  return { stop: () => clearInterval(timer) }
}

const TICKS = 20
