import cluster, { type Worker } from 'node:cluster'
import { AppError } from '../core/errors.ts'
import type { Readiness } from '../core/readiness.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type FromPrimary, type FromWorker, WORKER_MARK } from './messages.ts'

/** This process, as one of the workers that share the listeners of an instance. */
export interface WorkerProcess {
  /** The first worker of the service has 1. Numbers are not used again. */
  readonly number: number
  /** Resolves when this worker may listen: at the start, when all workers can. */
  mayListen(): Promise<void>
  /** To be called when all listeners are open. */
  reportServing(): void
  /** Returns metrics that include all workers, and a readiness that rejects with `unavailable` until all listen. */
  share(own: Shared): Shared
}

interface Shared {
  readonly metrics: Metrics
  readonly readiness: Readiness
}

/** Leaves it to the primary to report why this process ends. Resolves to `false` if there is none. */
export async function reportFailure(reason: string): Promise<boolean> {
  if (ownWorker() === undefined || !process.connected) return false
  const { promise, resolve } = Promise.withResolvers<boolean>()
  send({ type: 'failed', reason }, (error) => resolve(error === null))
  return promise
}

/** `undefined` if this process is no worker. */
export function joinWorkers(): WorkerProcess | undefined {
  const worker = ownWorker()
  if (worker === undefined) return undefined
  const listen = Promise.withResolvers<void>()
  let doAllServe = false
  const scrapes = new Map<number, PromiseWithResolvers<string>>()
  let lastScrape = 0
  let metrics: Metrics | undefined

  process.on('message', (message: FromPrimary) => {
    if (message.type === 'listen') {
      listen.resolve()
    } else if (message.type === 'allServe') {
      doAllServe = true
    } else if (message.type === 'scraped') {
      const { id, text } = message
      if (text === undefined) scrapes.get(id)?.reject(new Error('The primary process failed.'))
      else scrapes.get(id)?.resolve(text)
      scrapes.delete(id)
    } else if (message.type === 'takeSnapshot') {
      void metrics?.takeSnapshot(message).then(
        (snapshot) => send({ type: 'snapshot', snapshot }),
        // The primary logs that nothing has arrived.
        () => undefined,
      )
    }
  })

  return {
    number: worker.id,
    mayListen() {
      send({ type: 'opened' })
      return listen.promise
    },
    reportServing: () => send({ type: 'serving' }),
    share(own) {
      metrics = own.metrics
      return {
        metrics: { ...own.metrics, expose },
        readiness: {
          async failures() {
            if (doAllServe) return await own.readiness.failures()
            throw new AppError('unavailable', 'Not all workers have started yet.')
          },
        },
      }
    },
  }

  function expose(): Promise<string> {
    const scrape = Promise.withResolvers<string>()
    scrapes.set((lastScrape += 1), scrape)
    send({ type: 'scrape', id: lastScrape })
    return scrape.promise
  }
}

function ownWorker(): Worker | undefined {
  return process.env[WORKER_MARK] === undefined ? undefined : cluster.worker
}

/** Without a primary, `node:cluster` is about to end this process, so a failure needs no report. */
function send(message: FromWorker, onSent: (error: Error | null) => void = () => undefined): void {
  process.send?.(message, undefined, undefined, onSent)
}
