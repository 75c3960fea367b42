import { collectDefaultMetrics } from '@prometheus-io/client'
import type { LastBackup } from '../core/backup/backup-folder.ts'
import type { UploadMemory } from '../core/memory/upload-memory.ts'
import type { Readiness } from '../core/readiness.ts'
import type { ResumableUploads } from '../core/resumable/resumable-uploads.ts'
import type { BacklogLedger } from '../core/sweep/backlog-ledger.ts'
import type { WebhookLedger } from '../core/webhooks/webhook-ledger.ts'
import { createBackupScrape } from './backups.ts'
import type { Instruments } from './instruments.ts'
import { createRequestMetrics } from './requests.ts'
import { createBacklogScrape, createDependencyScrape, createGaugeScrape } from './scrape.ts'
import { createWebhookScrape } from './webhooks.ts'

export interface MetricsOptions {
  readonly instruments: Instruments
  readonly ledger: BacklogLedger & Pick<WebhookLedger, 'measureWebhooks'>
  readonly readiness: Readiness
  readonly uploads: Pick<ResumableUploads, 'runningAppends'>
  readonly memory: UploadMemory
  /** `undefined` if the database has no pool. */
  readonly connections: (() => ConnectionCounts) | undefined
  /** Bytes of the pack of small objects; `undefined` if the object store has none. */
  readonly measurePack: (() => Promise<number>) | undefined
  /** Bytes that the reserve of an embedded database holds; `undefined` if there is none. */
  readonly measureReserve: (() => Promise<number>) | undefined
  /** `undefined` if the service makes no backups. */
  readonly findBackup: (() => Promise<LastBackup | undefined>) | undefined
}

interface ConnectionCounts {
  readonly limit: number
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

export function createMetrics(options: MetricsOptions) {
  const { instruments, ledger, readiness, findBackup } = options
  const { registry } = instruments
  const scrapes = [
    createBacklogScrape(instruments, ledger),
    createDependencyScrape(instruments.dependencyUp, readiness),
    createWebhookScrape(instruments.webhooks, ledger),
    createGaugeScrape(instruments.packBytes, options.measurePack),
    createGaugeScrape(instruments.reserveBytes, options.measureReserve),
    createBackupScrape(instruments, findBackup),
  ]
  const requests = createRequestMetrics(instruments)
  let watchesProcess = false
  return {
    contentType: registry.contentType,
    /** Omits metrics that a dependency does not supply in time. */
    async expose(): Promise<string> {
      await Promise.all(scrapes.map((each) => each()))
      requests.settle()
      readSaturation(options)
      return await registry.metrics()
    },
    /** Adds version and process metrics, such as event loop delays. Idempotent. */
    watchProcess({ version }: { readonly version: string }): void {
      if (watchesProcess) return
      watchesProcess = true
      collectDefaultMetrics({ register: registry })
      instruments.buildInfo().set({ version }, 1)
    },
    meterRequests: requests.meter,
  }
}

function readSaturation({ instruments, uploads, memory, connections }: MetricsOptions): void {
  const { memory: gauges, pool, runningAppends } = instruments
  runningAppends.set(uploads.runningAppends)
  const { budget, taken, waiting } = memory.usage()
  gauges.budget.set(budget)
  gauges.taken.set(taken)
  gauges.waiting.set(waiting)
  if (connections === undefined) return
  const counts = connections()
  pool?.limit.set(counts.limit)
  pool?.waiting.set(counts.waiting)
  pool?.open.set(counts.open)
  pool?.used.set(counts.open - counts.idle)
}
