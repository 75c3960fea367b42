export interface BodyPaceOptions {
  /** How long no byte may come, in milliseconds; also the time over which the rate is averaged. */
  readonly idleTimeoutMs: number
  /** Whether it is the client's turn: `false` while the body is not being read. */
  readonly isWaiting: () => boolean
  /** Called at most once. */
  readonly onTooSlow: () => void
}

export interface BodyPace {
  /** Takes note of bytes that came. */
  count(bytes: number): void
  /** Guarantees that nothing is called any more. */
  stop(): void
}

export const MIN_BYTES_PER_SECOND = 1024

/**
 * Watches over a body that is being received: calls `onTooSlow` when no byte has come for `idleTimeoutMs`, or fewer
 * than 1 KiB/s in that time. Only time in which it was the client's turn counts, so a slow reader on our side
 * fails nobody. A process that was suspended or busy takes it for one short moment.
 */
export function watchBodyPace(options: BodyPaceOptions): BodyPace {
  const { idleTimeoutMs, isWaiting, onTooSlow } = options
  const leastBytes = (MIN_BYTES_PER_SECOND * idleTimeoutMs) / 1000
  let idleTicks = 0
  let windowTicks = 0
  let windowBytes = 0

  // Ticks are counted instead of reading a clock: a process that did not run has not listened either.
  const timer = setInterval(tick, idleTimeoutMs / TICKS)

  function tick(): void {
    if (!isWaiting()) return
    idleTicks += 1
    windowTicks += 1
    const windowIsOver = windowTicks >= TICKS
    if (idleTicks >= TICKS || (windowIsOver && windowBytes < leastBytes)) {
      clearInterval(timer)
      onTooSlow()
    } else if (windowIsOver) {
      windowTicks = 0
      windowBytes = 0
    }
  }

  function count(bytes: number): void {
    idleTicks = 0
    windowBytes += bytes
  }

  return { count, stop: () => clearInterval(timer) }
}

const TICKS = 20
