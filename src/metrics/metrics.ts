import { collectDefaultMetrics } from '@prometheus-io/client'
import type { BacklogLedger } from '../core/sweep/backlog-ledger.ts'
import type { Readiness } from '../core/readiness.ts'
import type { ClockHooks } from '../core/clock/safe-clock.ts'
import type { WebhookHooks } from '../core/webhooks/delivery.ts'
import type { WebhookLedger } from '../core/webhooks/webhook-ledger.ts'
import type { Repository } from '../core/files/repository.ts'
import type { History } from '../core/history/history.ts'
import type { Sweeper } from '../core/sweep/sweeper.ts'
import type { ResumableUploads } from '../core/resumable/resumable-uploads.ts'
import { createUploadHooks, meterAppends, type UploadHooks } from './appends.ts'
import { meterHistory, meterRepository } from './call-meters.ts'
import type { Instruments } from './instruments.ts'
import { createRequestMetrics, type ListenerName, type RequestMeter } from './requests.ts'
import { readSaturation, type Saturable } from './saturation.ts'
import {
  createBacklogScrape,
  createDependencyScrape,
  createGaugeScrape,
  createWebhookScrape,
} from './scrape.ts'
import { meterSweeper } from './sweeps.ts'
import { createClockHooks } from './clock.ts'
import { meterWebhooks } from './webhooks.ts'

export interface Metrics {
  readonly contentType: string
  /** Omits metrics that a dependency does not supply in time. */
  expose(): Promise<string>
  /** Adds version and process metrics, such as event loop delays. Idempotent. */
  watchProcess(build: BuildInfo): void
  meterSweeper(sweeper: Sweeper): Sweeper
  meterRepository(repository: Repository): Repository
  meterHistory(history: History): History
  /** Options of `createResumableUploads`. */
  readonly uploadHooks: UploadHooks
  meterUploads(uploads: ResumableUploads): ResumableUploads
  readonly clockHooks: ClockHooks
  meterWebhooks(hooks: WebhookHooks): WebhookHooks
  meterRequests(listener: ListenerName): RequestMeter
}

export interface BuildInfo {
  readonly version: string
}

export interface MetricsOptions extends Saturable {
  readonly instruments: Instruments
  readonly ledger: BacklogLedger & Pick<WebhookLedger, 'measureWebhooks'>
  readonly readiness: Readiness
  /** Bytes of the pack of small objects; `undefined` if the object store has none. */
  readonly measurePack: (() => Promise<number>) | undefined
  /** Bytes that the reserve of an embedded database holds; `undefined` if there is none. */
  readonly measureReserve: (() => Promise<number>) | undefined
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { instruments, ledger, readiness } = options
  const { registry } = instruments
  const backlog = createBacklogScrape(instruments, ledger)
  const dependencies = createDependencyScrape(instruments.dependencyUp, readiness)
  const webhooks = createWebhookScrape(instruments.webhooks, ledger)
  const pack = createGaugeScrape(instruments.packBytes, options.measurePack)
  const reserve = createGaugeScrape(instruments.reserveBytes, options.measureReserve)
  const requests = createRequestMetrics(instruments)
  let uploads: ResumableUploads | undefined
  let watchesProcess = false
  return {
    contentType: registry.contentType,
    async expose() {
      const scrapes = [backlog, dependencies, webhooks, pack, reserve]
      await Promise.all(scrapes.map((each) => each.scrape()))
      requests.settle()
      readSaturation(instruments, options)
      instruments.runningAppends.set(uploads?.runningAppends ?? 0)
      return await registry.metrics()
    },
    watchProcess({ version }) {
      if (watchesProcess) return
      watchesProcess = true
      collectDefaultMetrics({ register: registry })
      instruments.buildInfo().set({ version }, 1)
    },
    meterSweeper: (sweeper) => meterSweeper(sweeper, instruments),
    meterRepository: (repository) => meterRepository(repository, instruments),
    meterHistory: (history) => meterHistory(history, instruments),
    uploadHooks: createUploadHooks(instruments),
    meterUploads(given) {
      uploads = given
      return meterAppends(given, instruments)
    },
    clockHooks: createClockHooks(instruments),
    meterWebhooks: (hooks) => meterWebhooks(hooks, instruments),
    meterRequests: (listener) => requests.meter(listener),
  }
}
