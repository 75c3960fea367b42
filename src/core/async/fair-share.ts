export interface FairShareOptions {
  /** Shared by all readers. A reader keeps what it already holds when others join. */
  readonly totalBytes: number
  /** Every reader gets this, even beyond the total. */
  readonly minBytes: number
  readonly maxBytes: number
}

export interface Share {
  readonly bytes: number
  /** Adjusts the share to the time that the reader took to consume it. */
  adapt(ms: number): void
  /** Call exactly once. */
  leave(): void
}

/** A reader that consumes its share in less than this time gets more. */
const QUICK_MS = 100

const STEP = 4

export type FairShare = ReturnType<typeof createFairShare>

/** Memory shared evenly by the readers fast enough to use it; slow readers get the minimum. */
export function createFairShare({ totalBytes, minBytes, maxBytes }: FairShareOptions) {
  let members = 0
  return {
    join(): Share {
      let window = Math.min(maxBytes, minBytes * STEP)
      members += 1
      return {
        get bytes() {
          return Math.floor(Math.max(minBytes, Math.min(window, totalBytes / members)))
        },
        adapt(ms) {
          const wanted = ms < QUICK_MS ? window * STEP : window / STEP
          window = Math.max(minBytes, Math.min(maxBytes, wanted))
        },
        leave() {
          members -= 1
        },
      }
    },
  }
}
