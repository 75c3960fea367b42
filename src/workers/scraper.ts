import type { Worker } from 'node:cluster'
import type { FastifyBaseLogger } from 'fastify'
import { settledWithin } from '../core/async/deadline.ts'
import {
  AggregatedMetrics,
  createProcessMetrics,
  type Snapshot,
} from '../metrics/aggregated-metrics.ts'
import { tell } from './messages.ts'

export interface ScraperOptions {
  readonly logger: FastifyBaseLogger
  /** Those that serve, in the order of their start. */
  readonly serving: () => readonly Worker[]
}

/** Collects the metrics of all workers and of this process, the primary. */
export class Scraper {
  readonly #options: ScraperOptions
  readonly #metrics = new AggregatedMetrics()
  readonly #measurePrimary = createProcessMetrics()
  /** Of the workers whose snapshots are awaited. */
  readonly #arrived = new Map<number, () => void>()
  #scrape: Promise<string> | undefined

  constructor(options: ScraperOptions) {
    this.#options = options
  }

  /** Concurrent scrapes share their result. The last snapshot of a worker that does not respond in time counts. */
  scrape(): Promise<string> {
    this.#scrape ??= this.#collect().finally(() => {
      this.#scrape = undefined
    })
    return this.#scrape
  }

  take(worker: number, snapshot: Snapshot): void {
    this.#metrics.set(worker, snapshot)
    this.#arrived.get(worker)?.()
  }

  end(worker: number): void {
    this.#metrics.end(worker)
    this.#arrived.get(worker)?.()
  }

  async #collect(): Promise<string> {
    const { logger, serving } = this.#options
    this.#metrics.set(PRIMARY, await this.#measurePrimary())
    const arrivals = serving().map(async (worker, at) => {
      const { promise, resolve } = Promise.withResolvers<true>()
      this.#arrived.set(worker.id, () => resolve(true))
      // Values are added, so only one worker reads the backlog. If another one did at each scrape, the last snapshot of
      // a worker that does not respond could count the backlog twice.
      tell(worker, { type: 'takeSnapshot', readsBacklog: at === 0 })
      const hasArrived = await settledWithin(SNAPSHOT_TIMEOUT_MS, promise)
      this.#arrived.delete(worker.id)
      if (hasArrived === undefined) logger.warn({ worker: worker.id }, 'a worker does not respond')
    })
    await Promise.all(arrivals)
    return this.#metrics.expose()
  }
}

/** Workers count from 1. */
const PRIMARY = 0

/** A worker waits 2 s for the database; Prometheus waits 10 s. */
const SNAPSHOT_TIMEOUT_MS = 4_000
