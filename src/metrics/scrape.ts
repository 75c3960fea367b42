import { settledWithin } from '../core/async/deadline.ts'

/** Prometheus waits 10 s, and what an instance knows by itself must arrive also when a part hangs. */
const PATIENCE_MS = 2_000

export interface Reading {
  /** Forgets what gauges show. */
  readonly clear: () => void
  /** Asks, and sets the gauges. */
  readonly read: () => Promise<void>
}

/**
 * Reads for a scrape what others have to tell. Never rejects: what can't be read in time is left out. However many ask,
 * and however slow the answer is, one reads.
 */
export function createScrape({ clear, read }: Reading): () => Promise<void> {
  let reading: Promise<void> | undefined
  return async () => {
    clear()
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined
      })
    await settledWithin(PATIENCE_MS, reading)
  }
}
