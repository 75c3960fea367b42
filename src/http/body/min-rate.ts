export interface MinRateOptions {
  /** How long no byte may pass; also the window over which the rate is averaged. */
  readonly idleTimeoutMs: number
  readonly total: () => number
  /** Whether the service is waiting for the client to send or read. */
  readonly isWaiting: () => boolean
  /** Called at most once. */
  readonly onTooSlow: () => void
}

export interface MinRate {
  readonly stop: () => void
}

const MIN_BYTES_PER_SECOND = 1024

/** Calls `onTooSlow` after `idleTimeoutMs` without a byte, or below 1 KiB/s. Only the client's turns count. */
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

  // Ticks, not a clock: time in which this process was suspended or busy must not count.
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
