import type { Worker } from 'node:cluster'
import type { Snapshot } from '../metrics/aggregated-metrics.ts'

/** Set in the environment of a worker, because other process managers use `node:cluster`, too. */
export const WORKER_MARK = 'CLOUD_REPOSITORY_WORKER'

export type FromWorker =
  /** It has opened the database and the object store, and waits for `listen`. */
  | { readonly type: 'opened' }
  /** All its listeners are open. */
  | { readonly type: 'serving' }
  /** Why it is about to end, for an operator. */
  | { readonly type: 'failed'; readonly reason: string }
  /** Asks for the metrics of all workers. */
  | { readonly type: 'scrape'; readonly id: number }
  | { readonly type: 'snapshot'; readonly snapshot: Snapshot }

export type FromPrimary =
  | { readonly type: 'listen' }
  | { readonly type: 'allServe' }
  | { readonly type: 'takeSnapshot'; readonly readsBacklog: boolean }
  /** Without a text, the scrape failed. */
  | { readonly type: 'scraped'; readonly id: number; readonly text: string | undefined }

/** A worker that has ended needs no message. */
export function tell(worker: Worker, message: FromPrimary): void {
  if (worker.isConnected()) worker.send(message, () => undefined)
}
