/** The service answers within this time, unless it is lost. */
export const ANSWER_MS = 60_000
/** Time without progress after which an upload counts as lost. */
export const SENDING_MS = 120_000
/** When all bytes are sent, the service may still have to read them again. */
export const STORING_MS = 600_000

/** Aborts a request on which nothing happens, since a lost connection can go unnoticed. */
export interface Watchdog {
  readonly signal: AbortSignal
  /** Aborts unless it is called again, or ended, within this time. */
  expect(ms: number): void
  end(): void
  abort(): void
}

export function createWatchdog(signal: AbortSignal | undefined, firstMs: number): Watchdog {
  const stop = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = (): void => clearTimeout(timer)
  const expect = (ms: number): void => {
    end()
    timer = setTimeout(() => stop.abort(new Error(`Nothing happened for ${ms} ms.`)), ms)
  }
  expect(firstMs)
  const signals = signal === undefined ? [stop.signal] : [signal, stop.signal]
  return { signal: AbortSignal.any(signals), expect, end, abort: () => stop.abort() }
}
